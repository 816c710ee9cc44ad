/** Own messages that are not stored yet, and what other clients have waiting; errors of the last turn. */
import { isRunning, type OutgoingMessage, type TurnError } from '../chat/conversation.js';
import { usePage, useServices } from '../services.js';
import type { StringKey } from '../text/en.js';
import { AlertIcon } from './icons.js';
import { UserText } from './message.js';

const none: readonly never[] = [];

export function Pending() {
  const { chat, texts } = useServices();
  const outgoing = usePage((state) => state.conversations.get(state.currentKey)?.outgoing ?? none);
  const queue = usePage((state) => state.conversations.get(state.currentKey)?.queue ?? none);
  const ownIds = new Set(outgoing.map((message) => message.messageId));
  const queuedIds = new Set(queue.map((message) => message.messageId));
  return (
    <>
      {outgoing.map((message) => (
        <article
          key={message.messageId}
          class={`message user ${queuedIds.has(message.messageId) ? 'queued' : message.state}`}
          aria-label={texts.t('you')}
        >
          <UserText text={message.text} />
          <OutgoingState message={message} isQueued={queuedIds.has(message.messageId)} />
          {(message.state === 'failed' || message.state === 'dropped') && (
            <p class="message-actions">
              <button type="button" class="button" onClick={() => chat.sendAgain(message.messageId)}>
                {texts.t('sendAgain')}
              </button>
              <button type="button" class="button" onClick={() => chat.discard(message.messageId)}>
                {texts.t('discard')}
              </button>
            </p>
          )}
        </article>
      ))}
      {queue
        .filter((message) => !ownIds.has(message.messageId))
        .map((message) => (
          <article key={message.messageId} class="message user queued" aria-label={texts.t('queued')}>
            <UserText text={message.text} />
            <p class="message-state">{texts.t('queued')}</p>
          </article>
        ))}
    </>
  );
}

function OutgoingState({ message, isQueued }: { message: OutgoingMessage; isQueued: boolean }) {
  const { texts } = useServices();
  const key = message.state === 'sent' ? (isQueued ? 'queued' : undefined) : stateTexts[message.state];
  return key === undefined ? null : <p class="message-state">{texts.t(key)}</p>;
}

const stateTexts = { waiting: 'waitingToSend', failed: 'sendFailed', dropped: 'dropped' } as const;

/** What went wrong in the last turn, and what to do about it. */
export function TurnErrors() {
  const errors = usePage((state) => state.conversations.get(state.currentKey)?.errors ?? none);
  return (
    <>
      {errors.map((error) => (
        <div key={error.message} class="message notice problem" role="alert">
          <AlertIcon />
          <ErrorText error={error} />
        </div>
      ))}
    </>
  );
}

export function ErrorText({ error }: { error: TurnError }) {
  const { texts } = useServices();
  const hint = hints[error.code];
  return (
    <div class="error-text">
      <p>{error.message}</p>
      {hint && <p>{texts.t(hint)}</p>}
      <p class="error-code">{texts.t('errorCode', { code: error.code })}</p>
    </div>
  );
}

const hints: Record<string, StringKey> = {
  model_error: 'hintModel',
  queue_full: 'hintQueueFull',
  shutting_down: 'hintShuttingDown',
  session_not_found: 'hintNotFound',
  session_read_only: 'hintReadOnly',
};

/** How the newest turn ended, when it was not the usual way. */
export function Ending() {
  const { texts } = useServices();
  const ending = usePage((state) => {
    const conversation = state.conversations.get(state.currentKey);
    if (!conversation || isRunning(conversation)) return undefined;
    const runId = conversation.live.at(-1)?.runId ?? conversation.messages.at(-1)?.runId;
    return runId === undefined ? undefined : conversation.endings.get(runId);
  });
  const key = ending && endings[ending];
  return key ? <p class="ending">{texts.t(key)}</p> : null;
}

const endings: Partial<Record<string, StringKey>> = {
  max_turns: 'endingMaxTurns',
  no_progress: 'endingNoProgress',
  cancelled: 'endingCancelled',
  budget_exceeded: 'endingBudget',
  timeout: 'endingTimeout',
  awaiting_permission: 'endingPermission',
  awaiting_user: 'endingUser',
};
