/** Names a dialog once it has five messages and nobody has named it. Works behind the turn, never before an answer. */
import type { Logger } from '../observability/log.js';
import type { LiveSession } from './live-session.js';
import type { SessionStore } from './session-store.js';

/** Writes a short title for the start of a conversation. Throws when the model fails. */
export type WriteTitle = (conversation: string, signal: AbortSignal) => Promise<string>;

export interface Titler {
  /** Call after each turn. `opening`: what people and assistant said first. */
  afterTurn(session: LiveSession, opening: () => string): void;
  /** Ends what is being written and waits for it. */
  stop(): Promise<void>;
}

const messagesBeforeTitle = 5;
const maxTitleColumns = 40;

/** Without `writeTitle` (no auxiliary model) the title is the beginning of the first message. */
export function createTitler(options: {
  sessions: SessionStore;
  writeTitle: WriteTitle | undefined;
  log: Logger;
}): Titler {
  const { sessions, writeTitle, log } = options;
  const stopping = new AbortController();
  const writing = new Set<Promise<void>>();

  const title = async (session: LiveSession, opening: string) => {
    let text = '';
    try {
      text = writeTitle ? await writeTitle(opening, stopping.signal) : '';
    } catch (error) {
      if (stopping.signal.aborted) return;
      log.warn({ err: error, sessionId: session.id }, 'title could not be written; the first message serves');
    }
    const title = shorten(text) || shorten(opening);
    const row = sessions.findByKey(session.key);
    if (title !== '' && row?.titleSource === 'default') sessions.update(session.key, { title, titleSource: 'auto' });
  };

  return {
    afterTurn(session, opening) {
      if (!session.hasDefaultTitle || session.messageCount < messagesBeforeTitle) return;
      session.hasDefaultTitle = false;
      const work: Promise<void> = title(session, opening())
        .catch((error: unknown) => log.error({ err: error, sessionId: session.id }, 'title could not be stored'))
        .finally(() => writing.delete(work));
      writing.add(work);
    },
    async stop() {
      stopping.abort();
      await Promise.all(writing);
    },
  };
}

/** One line without quotes and Markdown, cut at whole characters to 40 columns (a Han character takes two). */
export function shorten(text: string): string {
  const line = (text.trim().split('\n')[0] ?? '').replace(/^[#>*\s"'“”「《]+|[\s"'“”」》。.]+$/gu, '');
  let columns = 0;
  let kept = '';
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(line)) {
    columns +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/u.test(
        segment,
      )
        ? 2
        : 1;
    if (columns > maxTitleColumns) return `${kept.trimEnd()}…`;
    kept += segment;
  }
  return kept;
}
