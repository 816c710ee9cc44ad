/** The page's whole state in one immutable object. Listeners hear of changes at most once per drawn frame. */
import type { SessionSummary } from '../../../../../src/protocol/control.js';
import type { DaemonStatus } from '../../../../../src/protocol/status.js';
import type { ConnectionState } from '../wire/connection.js';
import type { Conversation } from './conversation.js';

export interface Notice {
  id: string;
  code: string;
  message: string;
}

export interface DialogList {
  state: 'loading' | 'ready' | 'failed';
  showsArchived: boolean;
  items: readonly SessionSummary[];
  nextCursor: string | undefined;
}

export interface PageState {
  connection: ConnectionState;
  status: DaemonStatus | undefined;
  dialogs: DialogList;
  /** Key of the dialog on the screen. */
  currentKey: string;
  /** Of the dialog on the screen, also when the list does not show it. */
  currentSummary: SessionSummary | undefined;
  conversations: ReadonlyMap<string, Conversation>;
  notices: readonly Notice[];
  /** The newest finished answer, for screen readers. */
  announcement: string;
}

export interface PageStore {
  get(): PageState;
  update(change: (state: PageState) => PageState): void;
  subscribe(listener: () => void): () => void;
}

/** `schedule` runs its argument before the next frame is drawn, and soon when nothing is drawn (a hidden tab). */
export function createPageStore(initial: PageState, schedule: (task: () => void) => void): PageStore {
  let state = initial;
  let isScheduled = false;
  const listeners = new Set<() => void>();
  const tell = () => {
    isScheduled = false;
    for (const listener of [...listeners]) listener();
  };
  return {
    get: () => state,
    update(change) {
      const next = change(state);
      if (next === state) return;
      state = next;
      if (isScheduled) return;
      isScheduled = true;
      schedule(tell);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function initialState(currentKey: string): PageState {
  return {
    connection: { name: 'connecting', isRetry: false },
    status: undefined,
    dialogs: { state: 'loading', showsArchived: false, items: [], nextCursor: undefined },
    currentKey,
    currentSummary: undefined,
    conversations: new Map(),
    notices: [],
    announcement: '',
  };
}
