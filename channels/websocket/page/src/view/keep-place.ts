/** Keeps what the reader sees where it is while older messages are put in above it. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * `oldestId`: of the first message drawn; a change of it is what moves the rest down. `column`: the messages' container.
 * Browsers anchor the scroll position by themselves, but not at its very top, and Safari not at all.
 */
export function useKeepPlace(column: RefObject<HTMLElement | null>, oldestId: number | undefined): void {
  const drawn = useRef({ oldestId, row: undefined as Element | undefined, top: 0 });
  if (drawn.current.oldestId !== oldestId) {
    const row = column.current?.querySelector('.row') ?? undefined;
    drawn.current = { oldestId, row, top: row?.getBoundingClientRect().top ?? 0 };
  }
  useLayoutEffect(() => {
    const { row, top } = drawn.current;
    drawn.current.row = undefined;
    const scroller = column.current?.closest('.scroller');
    if (!row?.isConnected || !scroller) return;
    scroller.scrollTop += row.getBoundingClientRect().top - top;
  }, [column, oldestId]);
}
