/** The message box. Enter sends, unless it confirms a word of an input method (Chinese, Japanese, Korean). */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isRunning } from '../chat/conversation.js';
import { usePage, useServices } from '../services.js';
import { SendIcon, StopIcon } from './icons.js';

export function Composer() {
  const { chat, texts } = useServices();
  const currentKey = usePage((state) => state.currentKey);
  const running = usePage((state) => {
    const conversation = state.conversations.get(state.currentKey);
    return conversation !== undefined && isRunning(conversation);
  });
  const isMissing = usePage((state) => state.conversations.get(state.currentKey)?.state === 'missing');
  const [text, setText] = useDraft(currentKey);
  const [isTooLong, setTooLong] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const canSend = text.trim() !== '' && !isMissing;

  // A finger that opens a dialog does not want the keyboard at once; a mouse user wants to type.
  useEffect(() => {
    if (window.matchMedia('(hover: hover)').matches) box.current?.focus();
  }, [currentKey]);
  useLayoutEffect(() => fitHeight(box.current), [text]);

  const send = () => {
    if (!canSend) return;
    const isTaken = chat.send(text.trim());
    setTooLong(!isTaken);
    if (isTaken) setText('');
    box.current?.focus();
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {isTooLong && (
        <p class="composer-error" role="alert">
          {texts.t('tooLong')}
        </p>
      )}
      <div class="composer-box">
        <textarea
          id="composer"
          ref={box}
          rows={1}
          value={text}
          dir="auto"
          enterkeyhint="send"
          aria-label={texts.t('message')}
          aria-describedby="composer-hint"
          placeholder={texts.t('messagePlaceholder')}
          disabled={isMissing}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Safari ends the composition before this event; its key code still tells.
            if (event.isComposing || event.keyCode === 229) return;
            if (event.key !== 'Enter' || event.shiftKey || event.altKey) return;
            event.preventDefault();
            send();
          }}
        />
        {running && (
          <button
            type="button"
            class="round stop"
            aria-label={texts.t('stop')}
            title={texts.t('stop')}
            onClick={() => chat.stop()}
          >
            <StopIcon />
          </button>
        )}
        {(!running || canSend) && (
          <button type="submit" class="round" aria-label={texts.t('send')} title={texts.t('send')} disabled={!canSend}>
            <SendIcon />
          </button>
        )}
      </div>
      <p id="composer-hint" class="composer-hint">
        {texts.t('composerHint')}
      </p>
    </form>
  );
}

/** What was typed and not sent, per dialog, until the tab is closed. */
function useDraft(key: string): [string, (text: string) => void] {
  const [draft, setDraft] = useState({ key, text: readDraft(key) });
  const text = draft.key === key ? draft.text : readDraft(key);
  return [
    text,
    (next) => {
      setDraft({ key, text: next });
      try {
        sessionStorage.setItem(`picobot.draft.${key}`, next);
      } catch {
        // Storage is full or switched off: the draft then lives as long as the page.
      }
    },
  ];
}

function readDraft(key: string): string {
  try {
    return sessionStorage.getItem(`picobot.draft.${key}`) ?? '';
  } catch {
    return '';
  }
}

/** Grows with its text; the style sheet sets the limit. */
function fitHeight(box: HTMLTextAreaElement | null): void {
  if (!box || CSS.supports('field-sizing', 'content')) return;
  box.style.height = 'auto';
  box.style.height = `${box.scrollHeight}px`;
}
