/** One stored message: the person's, an answer's step, or a notice. */
import { useState } from 'preact/hooks';
import type { ShownMessage } from '../chat/shown-message.js';
import { Markdown } from '../markdown/markdown.js';
import { useServices } from '../services.js';
import { AlertIcon } from './icons.js';
import { memo } from './memo.js';
import { Reasoning } from './reasoning.js';
import { ToolCalls } from './tool-call.js';

interface MessageProps {
  message: ShownMessage;
  /** Its run goes on: calls without a result are still at work. */
  isLive: boolean;
}

export const Message = memo(function Message({ message, isLive }: MessageProps) {
  const { texts } = useServices();
  const time = texts.time(message.at, Date.now());
  if (message.role === 'user') {
    const name = message.senderName ?? texts.t('you');
    return (
      <article class="message user" aria-label={texts.t('sentAt', { name, time })}>
        <UserText text={message.text} />
        <time class="message-time">{time}</time>
      </article>
    );
  }
  const label = texts.t('sentAt', { name: texts.t('appName'), time });
  if (message.role === 'notice') {
    const isProblem = message.text.startsWith('⚠️');
    return (
      <article class={isProblem ? 'message notice problem' : 'message notice'} aria-label={label}>
        {isProblem && <AlertIcon />}
        <Markdown text={isProblem ? message.text.replace(/^⚠️\s*/, '') : message.text} />
      </article>
    );
  }
  return (
    <article class="message assistant" aria-label={label}>
      {message.reasoning !== undefined && <Reasoning text={message.reasoning} isGrowing={false} />}
      {message.text !== '' && <Markdown text={message.text} />}
      {message.toolCalls && <ToolCalls calls={message.toolCalls} isLive={isLive} />}
    </article>
  );
});

const longTextLines = 16;
const longTextCharacters = 1500;

/** As typed. A long text is folded, so that a pasted log does not push the answer out of sight. */
export function UserText({ text }: { text: string }) {
  const { texts } = useServices();
  const [isOpen, setOpen] = useState(false);
  const isLong = text.length > longTextCharacters || text.split('\n', longTextLines + 1).length > longTextLines;
  return (
    <div class="bubble">
      <div class={isLong && !isOpen ? 'bubble-text folded' : 'bubble-text'} dir="auto">
        {text}
      </div>
      {isLong && (
        <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {texts.t(isOpen ? 'showLess' : 'showAll')}
        </button>
      )}
    </div>
  );
}
