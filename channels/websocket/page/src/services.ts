/** What every part of the page can reach: the chat, its state, the language, the Markdown renderer. */
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Chat } from './chat/chat.js';
import type { PageState, PageStore } from './chat/page-store.js';
import type { MarkdownRenderer } from './markdown/renderer.js';
import type { Texts } from './text/texts.js';
import type { Connection } from './wire/connection.js';

export interface Services {
  store: PageStore;
  chat: Chat;
  connection: Connection;
  texts: Texts;
  markdown: MarkdownRenderer;
}

const ServicesContext = createContext<Services | undefined>(undefined);
export const ServicesProvider = ServicesContext.Provider;

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (!services) throw new Error('The page was drawn outside of its ServicesProvider.');
  return services;
}

/** A part of the state; the component is drawn again only when that part is another object. */
export function usePage<T>(select: (state: PageState) => T): T {
  const { store } = useServices();
  const [, redraw] = useState(0);
  const selected = select(store.get());
  useEffect(() => {
    let shown = selected;
    const check = () => {
      const next = select(store.get());
      if (Object.is(next, shown)) return;
      shown = next;
      redraw((count) => count + 1);
    };
    check();
    return store.subscribe(check);
  }, [store, select, selected]);
  return selected;
}
