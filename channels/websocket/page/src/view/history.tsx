/** The stored messages. Drawn again only when one of them changes, never by streaming text. */
import { useEffect, useRef } from 'preact/hooks';
import type { ShownMessage } from '../chat/shown-message.js';
import { usePage, useServices } from '../services.js';
import { copyText } from './copy-text.js';
import { CopyIcon } from './icons.js';
import { Message } from './message.js';

const none: readonly ShownMessage[] = [];

export function History() {
  const messages = usePage((state) => state.conversations.get(state.currentKey)?.messages ?? none);
  const liveRunId = usePage(
    (state) => state.conversations.get(state.currentKey)?.live.find((run) => !run.hasEnded)?.runId,
  );
  return (
    <>
      <OlderMessages />
      {messages.map((message, index) => {
        const next = messages[index + 1];
        const isLive = message.runId === liveRunId;
        const isEndOfTurn = message.role === 'assistant' && !isLive && next?.runId !== message.runId;
        return (
          <div key={message.id} class="row">
            <Message message={message} isLive={isLive} />
            {isEndOfTurn && message.text !== '' && <AnswerActions text={message.text} />}
          </div>
        );
      })}
    </>
  );
}

function AnswerActions({ text }: { text: string }) {
  const { texts } = useServices();
  return (
    <p class="answer-actions">
      <button
        type="button"
        class="icon-button small"
        title={texts.t('copyAnswer')}
        aria-label={texts.t('copyAnswer')}
        onClick={(event) => void copyText(text, event.currentTarget, texts)}
      >
        <CopyIcon />
      </button>
    </p>
  );
}

/** Asks for older messages when it comes near the screen, or when it is pressed. */
function OlderMessages() {
  const { chat, texts } = useServices();
  const hasOlder = usePage((state) => state.conversations.get(state.currentKey)?.hasOlder ?? false);
  const isLoading = usePage((state) => state.conversations.get(state.currentKey)?.isLoadingOlder ?? false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!button.current || isLoading) return;
    const root = button.current.closest('.scroller');
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) void chat.loadOlder();
      },
      { root, rootMargin: '600px 0px 0px' },
    );
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [chat, hasOlder, isLoading]);
  if (!hasOlder) return null;
  return (
    <button type="button" class="older" ref={button} disabled={isLoading} onClick={() => void chat.loadOlder()}>
      {texts.t(isLoading ? 'loadingOlder' : 'loadOlder')}
    </button>
  );
}
