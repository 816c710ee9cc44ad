/** The dialog list: reading it, and what can be done to a dialog. */
import type { SessionSummary } from '../../../../../src/protocol/control.js';
import { type Api, ApiError, dialogKey } from '../wire/api.js';
import type { PageState, PageStore } from './page-store.js';

export interface Dialogs {
  refresh(): Promise<void>;
  /** Merges several calls in short order into one refresh, and looks again later: a title is made behind the turn. */
  refreshSoon(): void;
  loadMore(): Promise<void>;
  showArchived(showsArchived: boolean): void;
  /** Opens a fresh dialog; the current one when nothing was said in it yet. */
  create(): Promise<void>;
  rename(key: string, title: string): Promise<void>;
  archive(key: string, archived: boolean): Promise<void>;
  remove(key: string): Promise<void>;
}

export interface DialogsOptions {
  store: PageStore;
  api: Api;
  /** Shows the dialog on the screen. */
  open(key: string): void;
  /** Drops what is known of a dialog that is gone. */
  forget(key: string): void;
  report(error: unknown): void;
}

export const defaultKey = 'default';
const pageSize = 50;
const refreshDelayMs = 300;
const lateRefreshDelayMs = 4000;

export function createDialogs({ store, api, open, forget, report }: DialogsOptions): Dialogs {
  let refreshTimer: ReturnType<typeof setTimeout> | undefined;
  let lateRefreshTimer: ReturnType<typeof setTimeout> | undefined;
  let newestRefresh: Promise<void> | undefined;

  const setList = (change: Partial<PageState['dialogs']>) =>
    store.update((state) => ({ ...state, dialogs: { ...state.dialogs, ...change } }));
  const replace = (summary: SessionSummary) =>
    store.update((state) => ({
      ...state,
      currentSummary: dialogKey(summary) === state.currentKey ? summary : state.currentSummary,
      dialogs: {
        ...state.dialogs,
        items: state.dialogs.items
          .map((item) => (item.id === summary.id ? summary : item))
          .filter((item) => item.archived === state.dialogs.showsArchived),
      },
    }));
  const drop = (key: string) => setList({ items: store.get().dialogs.items.filter((item) => dialogKey(item) !== key) });
  /** After the current dialog went away: the newest other one, else the first. */
  const leave = (key: string) => {
    if (store.get().currentKey !== key) return;
    const next = store.get().dialogs.items.find((item) => dialogKey(item) !== key && !item.archived);
    open(next ? dialogKey(next) : defaultKey);
  };

  const readList = async (isNewest: () => boolean): Promise<void> => {
    const { showsArchived, items } = store.get().dialogs;
    try {
      const limit = Math.min(200, Math.max(pageSize, items.length));
      const page = await api.sessions({ archived: showsArchived, limit });
      if (!isNewest()) return;
      setList({ state: 'ready', items: page.items, nextCursor: page.nextCursor });
      const current = page.items.find((item) => dialogKey(item) === store.get().currentKey);
      if (current) store.update((state) => ({ ...state, currentSummary: current }));
    } catch (error) {
      if (isNewest() && items.length === 0) setList({ state: 'failed' });
      // The connection state tells about an unreachable gateway already.
      if (!(error instanceof ApiError && ['network_error', 'unauthorized'].includes(error.code))) report(error);
    }
  };

  const dialogs: Dialogs = {
    refresh() {
      clearTimeout(refreshTimer);
      const refresh = readList(() => refresh === newestRefresh);
      newestRefresh = refresh;
      // Whoever waits for a list that was overtaken gets the newer one.
      return refresh.then(() => (refresh === newestRefresh ? undefined : newestRefresh));
    },
    refreshSoon() {
      clearTimeout(refreshTimer);
      clearTimeout(lateRefreshTimer);
      refreshTimer = setTimeout(() => void dialogs.refresh(), refreshDelayMs);
      lateRefreshTimer = setTimeout(() => void dialogs.refresh(), lateRefreshDelayMs);
    },
    async loadMore() {
      const { nextCursor, showsArchived, items } = store.get().dialogs;
      if (nextCursor === undefined) return;
      try {
        const page = await api.sessions({ archived: showsArchived, limit: pageSize, cursor: nextCursor });
        const known = new Set(items.map((item) => item.id));
        setList({
          items: [...items, ...page.items.filter((item) => !known.has(item.id))],
          nextCursor: page.nextCursor,
        });
      } catch (error) {
        report(error);
      }
    },
    showArchived(showsArchived) {
      setList({ showsArchived, items: [], nextCursor: undefined, state: 'loading' });
      void dialogs.refresh();
    },
    async create() {
      const { currentKey, conversations, dialogs: list } = store.get();
      const current = conversations.get(currentKey);
      const isEmpty = current?.state === 'ready' && current.messages.length === 0 && current.outgoing.length === 0;
      if (list.showsArchived) setList({ showsArchived: false, items: [], nextCursor: undefined, state: 'loading' });
      try {
        open(isEmpty ? currentKey : dialogKey(await api.createSession()));
      } catch (error) {
        report(error);
      }
      await dialogs.refresh();
    },
    async rename(key, title) {
      try {
        replace(await api.updateSession(key, { title }));
      } catch (error) {
        report(error);
      }
    },
    async archive(key, archived) {
      try {
        const summary = await api.updateSession(key, { archived });
        if (archived) leave(key);
        replace(summary);
      } catch (error) {
        report(error);
      }
    },
    async remove(key) {
      try {
        await api.deleteSession(key);
        forget(key);
        drop(key);
        leave(key);
      } catch (error) {
        report(error);
      }
    },
  };
  return dialogs;
}
