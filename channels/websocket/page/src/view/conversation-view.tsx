/** The conversation on the screen: scrolls, stays at the newest message while the reader is there. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { usePage, useServices } from '../services.js';
import { ConnectionStrip } from './connection-pill.js';
import { copyText } from './copy-text.js';
import { EmptyDialog } from './empty-dialog.js';
import { History } from './history.js';
import { DownIcon } from './icons.js';
import { LiveTurn } from './live-turn.js';
import { Ending, Pending, TurnErrors } from './pending.js';

/** This near to the end counts as being there. */
const nearEndPixels = 60;

export function ConversationView() {
  const { texts } = useServices();
  const currentKey = usePage((state) => state.currentKey);
  const isEmpty = usePage((state) => {
    const conversation = state.conversations.get(state.currentKey);
    return conversation?.state === 'ready' && conversation.messages.length === 0 && conversation.outgoing.length === 0;
  });
  const state = usePage((page) => page.conversations.get(page.currentKey)?.state ?? 'loading');
  const scroller = useRef<HTMLElement>(null);
  const column = useRef<HTMLDivElement>(null);
  const { isAtEnd, toEnd } = useStickToEnd(scroller, column, currentKey);
  useEffect(() => {
    const copyCode = (event: Event) => copyCodeBlock(event, texts);
    scroller.current?.addEventListener('click', copyCode);
    return () => scroller.current?.removeEventListener('click', copyCode);
  }, [texts]);

  return (
    <div class="conversation">
      <ConnectionStrip />
      <section
        ref={scroller}
        class="scroller"
        aria-label={texts.t('conversation')}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
        tabIndex={0}
      >
        <div class="column" ref={column} key={currentKey}>
          {isEmpty ? (
            <EmptyDialog />
          ) : state === 'ready' ? (
            <>
              <History column={column} />
              <LiveTurn />
              <Ending />
              <TurnErrors />
              <Pending />
            </>
          ) : (
            <NotReady state={state} />
          )}
        </div>
      </section>
      <button
        type="button"
        class={isAtEnd ? 'to-latest' : 'to-latest shown'}
        aria-label={texts.t('toLatest')}
        title={texts.t('toLatest')}
        tabIndex={isAtEnd ? -1 : 0}
        onClick={toEnd}
      >
        <DownIcon />
      </button>
    </div>
  );
}

function NotReady({ state }: { state: 'loading' | 'failed' | 'missing' }) {
  const { chat, store, texts } = useServices();
  if (state === 'loading') return <p class="loading">{texts.t('loading')}</p>;
  return (
    <div class="empty">
      <h2>{texts.t(state === 'failed' ? 'loadFailed' : 'missingTitle')}</h2>
      {state === 'missing' && <p>{texts.t('missingText')}</p>}
      {state === 'failed' ? (
        <button type="button" class="button" onClick={() => chat.open(store.get().currentKey)}>
          {texts.t('tryAgain')}
        </button>
      ) : (
        <button type="button" class="button" onClick={() => void chat.dialogs.create()}>
          {texts.t('newDialog')}
        </button>
      )}
    </div>
  );
}

/** Follows the growing conversation until the reader scrolls up, and again when the reader is back at the end. */
function useStickToEnd(
  scroller: { current: HTMLElement | null },
  column: { current: HTMLElement | null },
  currentKey: string,
) {
  const sticks = useRef(true);
  const [isAtEnd, setAtEnd] = useState(true);
  const newestOwn = usePage((state) => state.conversations.get(state.currentKey)?.outgoing.at(-1)?.messageId);

  const toEnd = () => {
    const element = scroller.current;
    if (!element) return;
    sticks.current = true;
    element.scrollTop = element.scrollHeight;
  };

  useLayoutEffect(toEnd, [currentKey, newestOwn]);

  useEffect(() => {
    const element = scroller.current;
    if (!element || !column.current) return;
    let lastTop = element.scrollTop;
    const onScroll = () => {
      const distance = element.scrollHeight - element.clientHeight - element.scrollTop;
      // Only a movement upwards is the reader's: content that grows moves the end away without one.
      if (distance <= nearEndPixels) sticks.current = true;
      else if (element.scrollTop < lastTop) sticks.current = false;
      lastTop = element.scrollTop;
      setAtEnd(distance <= nearEndPixels || sticks.current);
    };
    const observer = new ResizeObserver(() => {
      if (sticks.current) element.scrollTop = element.scrollHeight;
    });
    element.addEventListener('scroll', onScroll, { passive: true });
    observer.observe(column.current);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', onScroll);
      observer.disconnect();
    };
  }, [scroller, column, currentKey]);

  return { isAtEnd, toEnd };
}

/** The buttons of code blocks are part of the Markdown's HTML, so their clicks are heard here. */
function copyCodeBlock(event: Event, texts: Parameters<typeof copyText>[2]): void {
  const button = (event.target as HTMLElement).closest<HTMLElement>('.code button');
  const code = button?.closest('.code')?.querySelector('code');
  if (button && code) void copyText(code.textContent, button, texts);
}
