/** A small menu beside its button. Arrow keys move, Escape and a click elsewhere close it. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

export interface MenuItem {
  label: string;
  run(): void;
  isDanger?: boolean;
}

interface MenuProps {
  anchor: RefObject<HTMLElement | null>;
  items: readonly MenuItem[];
  close(): void;
}

export function Menu({ anchor, items, close }: MenuProps) {
  const list = useRef<HTMLDivElement>(null);

  useLayoutEffect(() => {
    const menu = list.current;
    const place = anchor.current?.getBoundingClientRect();
    if (!menu || !place) return;
    const { offsetHeight, offsetWidth } = menu;
    const fitsBelow = place.bottom + offsetHeight + 8 < window.innerHeight;
    menu.style.top = `${fitsBelow ? place.bottom + 4 : place.top - offsetHeight - 4}px`;
    menu.style.left = `${Math.max(8, Math.min(place.left, window.innerWidth - offsetWidth - 8))}px`;
    menu.querySelector('button')?.focus();
  }, [anchor]);

  useEffect(() => {
    const closeOutside = (event: Event) => {
      const target = event.target as Node;
      if (!list.current?.contains(target) && !anchor.current?.contains(target)) close();
    };
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('scroll', closeOutside, { capture: true });
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('scroll', closeOutside, { capture: true });
    };
  }, [anchor, close]);

  const move = (step: number) => {
    const buttons = [...(list.current?.querySelectorAll('button') ?? [])];
    const index = buttons.indexOf(document.activeElement as HTMLButtonElement);
    buttons.at((index + step) % buttons.length)?.focus();
  };

  return (
    <div
      ref={list}
      class="menu"
      role="menu"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown') move(1);
        else if (event.key === 'ArrowUp') move(-1);
        else if (event.key === 'Escape' || event.key === 'Tab') close();
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      {items.map((item) => (
        <button
          key={item.label}
          type="button"
          role="menuitem"
          class={item.isDanger ? 'danger' : undefined}
          onClick={() => {
            close();
            item.run();
          }}
        >
          {item.label}
        </button>
      ))}
    </div>
  );
}
