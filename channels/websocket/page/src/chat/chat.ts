/**
 * What the person does and what the gateway says, brought together: opens dialogs, sends, stops, loads
 * older messages, and after every reconnect subscribes again from the last event it saw.
 */
import type { SessionSummary } from '../../../../../src/protocol/control.js';
import { type Api, ApiError, dialogKey } from '../wire/api.js';
import type { Connection } from '../wire/connection.js';
import { maxTextBytes, type PageFrame } from '../wire/frames.js';
import {
  applyFrame,
  type Conversation,
  discardOutgoing,
  emptyConversation,
  failed,
  isRunning,
  loaded,
  type OutgoingMessage,
  olderLoaded,
  withOutgoing,
} from './conversation.js';
import { createDialogs, type Dialogs, defaultKey } from './dialogs.js';
import type { PageStore } from './page-store.js';

export interface ChatOptions {
  store: PageStore;
  api: Api;
  /** Called when the page itself moves to another dialog (a new one, a deleted one). */
  showKey(key: string): void;
  newId(): string;
  now(): number;
}

export interface Chat {
  readonly dialogs: Dialogs;
  attach(connection: Connection): void;
  /** Shows a dialog; loads it when it is not known yet. */
  open(key: string): void;
  /** False when the text is too long for one frame; it is then not taken. */
  send(text: string): boolean;
  stop(): void;
  sendAgain(messageId: string): void;
  discard(messageId: string): void;
  loadOlder(): Promise<void>;
  dismissNotice(id: string): void;
  connected(): void;
  received(frame: PageFrame): void;
  frameTooLarge(): void;
}

/** Dialogs kept in memory; others are read again when they are opened. */
const maxKnownDialogs = 8;
const pageSize = 60;
const olderPageSize = 120;

export function createChat({ store, api, showKey, newId, now }: ChatOptions): Chat {
  let connection: Connection | undefined;
  /** Set while a slash command runs: it may create a dialog, switch to one or put this one away. */
  let beforeCommand: { current: string | undefined; wasListed: boolean } | undefined;
  /** Dialogs that did not exist yet when they were to be followed; their first message creates them. */
  const refused = new Set<string>();

  const change = (key: string, step: (conversation: Conversation) => Conversation) =>
    store.update((state) => {
      const before = state.conversations.get(key);
      if (!before) return state;
      const after = step(before);
      return after === before ? state : { ...state, conversations: new Map(state.conversations).set(key, after) };
    });

  const report = (error: unknown) => {
    const { code, message } = error instanceof ApiError ? error : { code: 'page_error', message: String(error) };
    store.update((state) => {
      const others = state.notices.filter((notice) => notice.message !== message);
      return { ...state, notices: [...others.slice(-2), { id: newId(), code, message }] };
    });
  };

  const subscribe = (key: string) => {
    const conversation = store.get().conversations.get(key);
    if (!conversation || conversation.state === 'loading' || conversation.state === 'missing') return;
    connection?.send({ type: 'subscribe', sessionId: key, lastEventId: conversation.lastEventId });
    for (const message of conversation.outgoing) {
      if (message.state === 'waiting' || message.state === 'sent') transmit(key, message);
    }
  };

  /** The same id as before when it was sent already: the gateway then answers it only once. */
  const transmit = (key: string, message: OutgoingMessage) => {
    const { messageId, text } = message;
    const isSent = connection?.send({ type: 'text', sessionId: key, messageId, content: { text } }) ?? false;
    change(key, (conversation) => withOutgoing(conversation, { ...message, state: isSent ? 'sent' : 'waiting' }));
  };

  const load = async (key: string) => {
    try {
      if (await isUnborn(key)) {
        change(key, (conversation) => loaded(conversation, [], { hasOlder: false, isBusy: false }));
      } else {
        const [summary, page] = await Promise.all([api.session(key), api.messages(key, { limit: pageSize })]);
        showSummary(key, summary);
        const info = { hasOlder: page.nextCursor !== undefined, isBusy: summary.busy };
        change(key, (conversation) => loaded(conversation, page.items, info));
      }
      subscribe(key);
    } catch (error) {
      const isMissing = error instanceof ApiError && error.status === 404;
      change(key, (conversation) => ({ ...conversation, state: isMissing ? 'missing' : 'failed' }));
      const isTold = isMissing || (error instanceof ApiError && ['network_error', 'unauthorized'].includes(error.code));
      if (!isTold) report(error);
    }
  };

  /** The first dialog exists from its first message on; before that there is nothing to ask for. */
  const isUnborn = async (key: string): Promise<boolean> => {
    if (key !== defaultKey) return false;
    if (store.get().dialogs.state !== 'ready') await dialogs.refresh();
    const { state, items } = store.get().dialogs;
    return state === 'ready' && !items.some((item) => dialogKey(item) === key);
  };

  const showSummary = (key: string, summary: SessionSummary) =>
    store.update((state) => (state.currentKey === key ? { ...state, currentSummary: summary } : state));

  const remember = (key: string) =>
    store.update((state) => {
      const conversations = new Map(state.conversations);
      const conversation = conversations.get(key) ?? emptyConversation(key);
      conversations.delete(key);
      conversations.set(key, conversation);
      for (const [other, candidate] of conversations) {
        if (conversations.size <= maxKnownDialogs) break;
        if (other !== key && !isRunning(candidate) && candidate.outgoing.length === 0) {
          conversations.delete(other);
          connection?.send({ type: 'unsubscribe', sessionId: other });
        }
      }
      const listed = state.dialogs.items.find((item) => dialogKey(item) === key);
      return { ...state, currentKey: key, currentSummary: listed, conversations, announcement: '' };
    });

  const discard = (messageId: string) =>
    change(store.get().currentKey, (conversation) => discardOutgoing(conversation, messageId));

  const forget = (key: string) =>
    store.update((state) => {
      const conversations = new Map(state.conversations);
      conversations.delete(key);
      return { ...state, conversations };
    });

  const afterTurn = async (key: string) => {
    const before = beforeCommand;
    dialogs.refreshSoon();
    if (!before || key !== store.get().currentKey) return;
    beforeCommand = undefined;
    await dialogs.refresh();
    const { items, showsArchived } = store.get().dialogs;
    if (key !== store.get().currentKey || showsArchived) return;
    const current = currentOfChat(items);
    const isGone = before.wasListed && !items.some((item) => dialogKey(item) === key);
    if (current !== undefined && current !== before.current) showKey(current);
    else if (isGone) {
      forget(key);
      showKey(items[0] ? dialogKey(items[0]) : defaultKey);
    }
  };

  const refreshBusy = async (key: string) => {
    const summary = await api.session(key).catch(() => undefined);
    if (!summary) return;
    showSummary(key, summary);
    change(key, (conversation) => ({ ...conversation, isBusyElsewhere: summary.busy }));
  };

  const dialogs = createDialogs({ store, api, open: (key) => showKey(key), forget, report });

  return {
    dialogs,
    attach(attached) {
      connection = attached;
    },
    open(key) {
      const known = store.get().conversations.get(key);
      remember(key);
      if (!known || known.state === 'failed' || known.state === 'missing') {
        change(key, (conversation) => ({ ...conversation, state: 'loading' }));
        void load(key);
      }
    },
    send(text) {
      if (new TextEncoder().encode(JSON.stringify(text)).length > maxTextBytes) return false;
      const key = store.get().currentKey;
      const { items } = store.get().dialogs;
      const wasListed = items.some((item) => dialogKey(item) === key);
      beforeCommand = /^\/[a-z]/i.test(text) ? { current: currentOfChat(items), wasListed } : undefined;
      transmit(key, { messageId: newId(), text, at: now(), state: 'waiting' });
      return true;
    },
    stop() {
      connection?.send({ type: 'stop', sessionId: store.get().currentKey });
    },
    sendAgain(messageId) {
      const key = store.get().currentKey;
      const message = store
        .get()
        .conversations.get(key)
        ?.outgoing.find((other) => other.messageId === messageId);
      if (!message) return;
      // A new id: the old one may be known to the gateway, as a message that was dropped.
      discard(messageId);
      transmit(key, { ...message, messageId: newId(), at: now() });
    },
    discard,
    async loadOlder() {
      const key = store.get().currentKey;
      const conversation = store.get().conversations.get(key);
      const oldest = conversation?.messages[0];
      if (!conversation?.hasOlder || conversation.isLoadingOlder || !oldest) return;
      change(key, (before) => ({ ...before, isLoadingOlder: true }));
      try {
        const page = await api.messages(key, { before: oldest.id, limit: olderPageSize });
        change(key, (before) => olderLoaded(before, page.items, page.items.length > 0));
      } catch (error) {
        change(key, (before) => ({ ...before, isLoadingOlder: false }));
        report(error);
      }
    },
    dismissNotice(id) {
      store.update((state) => ({ ...state, notices: state.notices.filter((notice) => notice.id !== id) }));
    },
    connected() {
      void api.status().then(
        (status) => store.update((state) => ({ ...state, status })),
        () => undefined,
      );
      void dialogs.refresh();
      for (const [key, conversation] of store.get().conversations) {
        if (conversation.state === 'failed') void load(key);
        else subscribe(key);
      }
    },
    received(frame) {
      const key = 'sessionId' in frame ? frame.sessionId : undefined;
      const before = key === undefined ? undefined : store.get().conversations.get(key);
      if (key === undefined || !before) {
        if (frame.type === 'error') report(new ApiError(frame.content.code, frame.content.message, 0));
        if (frame.type === 'end') dialogs.refreshSoon();
        return;
      }
      if (frame.type === 'error' && frame.content.code === 'session_not_found' && frame.messageId === undefined) {
        refused.add(key);
        if (key === defaultKey) return;
      }
      change(key, (conversation) => applyFrame(conversation, frame));
      if (frame.type === 'sync' && before.isBusyElsewhere) void refreshBusy(key);
      if (frame.type === 'end') {
        if (refused.delete(key))
          connection?.send({ type: 'subscribe', sessionId: key, lastEventId: before.lastEventId });
        const text = frame.content.text ?? '';
        if (key === store.get().currentKey) store.update((state) => ({ ...state, announcement: text }));
        void afterTurn(key);
      }
    },
    frameTooLarge() {
      const message = 'The message is longer than the gateway takes. Send it in parts.';
      for (const [key, conversation] of store.get().conversations) {
        for (const { messageId, state } of conversation.outgoing) {
          if (state === 'sent')
            change(key, (before) => failed(before, { code: 'frame_too_large', message, messageId }));
        }
      }
    },
  };
}

/** Key of the dialog that an unnamed message of the page's chat would go to. */
function currentOfChat(items: readonly SessionSummary[]): string | undefined {
  const current = items.find((item) => item.current);
  return current && dialogKey(current);
}
