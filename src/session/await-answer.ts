/** Waits for the run that answers one message. */
import type { EventFeed } from '../protocol/control.js';
import type { EventOf } from '../protocol/events.js';

/** Subscribe before the message is sent. Rejects with the signal's reason; the run itself goes on. */
export function awaitAnswer(feed: EventFeed, messageId: string, signal: AbortSignal): Promise<EventOf<'run-end'>> {
  return new Promise((resolve, reject) => {
    let runId: string | undefined;
    const stop = feed.subscribe((event) => {
      if (event.type === 'run-start' && event.messageIds.includes(messageId)) runId = event.runId;
      if (event.type !== 'run-end' || event.runId !== runId) return;
      stop();
      resolve(event);
    });
    signal.addEventListener(
      'abort',
      () => {
        stop();
        reject(signal.reason);
      },
      { once: true },
    );
  });
}
