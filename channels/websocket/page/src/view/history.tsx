/** The stored messages. Drawn again only when one of them changes, never by streaming text. */
import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { createChunker } from '../chat/chunks.js';
import type { ShownMessage } from '../chat/shown-message.js';
import { usePage, useServices } from '../services.js';
import { copyText } from './copy-text.js';
import { CopyIcon } from './icons.js';
import { useKeepPlace } from './keep-place.js';
import { memo } from './memo.js';
import { Message } from './message.js';

const none: readonly ShownMessage[] = [];

/** `column`: the element that it is drawn into. A dialog's history is one instance. */
export function History({ column }: { column: RefObject<HTMLElement | null> }) {
  const messages = usePage((state) => state.conversations.get(state.currentKey)?.messages ?? none);
  const liveRunId = usePage(
    (state) => state.conversations.get(state.currentKey)?.live.find((run) => !run.hasEnded)?.runId,
  );
  const chunker = useMemo(createChunker, []);
  useKeepPlace(column, messages[0]?.id);
  const chunks = chunker.update(messages);
  return (
    <>
      <OlderMessages oldestId={messages[0]?.id} />
      {chunks.map((chunk, index) => (
        <Messages
          key={chunk.id}
          messages={chunk.messages}
          nextRunId={chunks[index + 1]?.messages[0]?.runId}
          liveRunId={chunk.messages.some((message) => message.runId === liveRunId) ? liveRunId : undefined}
        />
      ))}
    </>
  );
}

interface MessagesProps {
  messages: readonly ShownMessage[];
  /** Run of the message after these. */
  nextRunId: string | undefined;
  /** The run that goes on, when one of these belongs to it. */
  liveRunId: string | undefined;
}

const Messages = memo(function Messages({ messages, nextRunId, liveRunId }: MessagesProps) {
  return (
    <div class="chunk">
      {messages.map((message, index) => {
        const isLive = message.runId === liveRunId;
        const isLast = index === messages.length - 1;
        const runIdAfter = isLast ? nextRunId : messages[index + 1]?.runId;
        const isEndOfTurn = message.role === 'assistant' && !isLive && runIdAfter !== message.runId;
        return (
          <div key={message.id} class="row">
            <Message message={message} isLive={isLive} />
            {isEndOfTurn && message.text !== '' && <AnswerActions text={message.text} />}
          </div>
        );
      })}
    </div>
  );
});

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
function OlderMessages({ oldestId }: { oldestId: number | undefined }) {
  const { chat, texts } = useServices();
  const hasOlder = usePage((state) => state.conversations.get(state.currentKey)?.hasOlder ?? false);
  const isLoading = usePage((state) => state.conversations.get(state.currentKey)?.isLoadingOlder ?? false);
  const button = useRef<HTMLButtonElement>(null);
  // Looks again when older messages came: the button may be as near as before.
  useEffect(() => {
    if (!button.current) return;
    const root = button.current.closest('.scroller');
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) void chat.loadOlder();
      },
      { root, rootMargin: '600px 0px 0px' },
    );
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [chat, hasOlder, oldestId]);
  if (!hasOlder) return null;
  return (
    <button type="button" class="older" ref={button} disabled={isLoading} onClick={() => void chat.loadOlder()}>
      {texts.t(isLoading ? 'loadingOlder' : 'loadOlder')}
    </button>
  );
}
