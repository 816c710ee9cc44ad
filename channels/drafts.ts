/**
 * The message that grows while a turn is running. Text is merged and shown at the platform's pace; when the turn ends the
 * channel takes the draft and turns it into the answer, so that the answer stands in the chat exactly once.
 */
import type { Logger } from '../src/observability/log.js';
import { ChannelError } from './channel-error.js';
import type { ChannelStore } from './channel-parts.js';

export interface Drafts {
  /** Returns at once; only the newest text counts. */
  show(draft: { chatId: string; runId: string; text: string; replyTo?: string }, signal: AbortSignal): void;
  /** No more edits after this. The platform's id of the draft, also of one from before a restart; undefined: there is none. */
  take(runId: string): Promise<string | undefined>;
  /** The answer stands; nothing of the draft needs to be known any more. */
  forget(runId: string): void;
}

interface Draft {
  wanted: string;
  shown: string;
  /** No more edits. */
  isClosed: boolean;
  /** Ends a pause, not a call on the wire. */
  closing: AbortController;
  work: Promise<void> | undefined;
}

/** A pause longer than this is not waited for; the answer comes anyway. */
const longestPauseMs = 60_000;

export function createDrafts(options: {
  /** Makes the message; returns the platform's id. */
  create: (draft: { chatId: string; text: string; replyTo?: string }, signal: AbortSignal) => Promise<string>;
  edit: (draft: { chatId: string; platformId: string; text: string }, signal: AbortSignal) => Promise<void>;
  /** Between two calls for one draft. */
  everyMs: number;
  store: ChannelStore;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  log: Logger;
}): Drafts {
  const drafts = new Map<string, Draft>();
  const key = (runId: string) => `draft:${runId}`;

  const work = async (
    draft: Draft,
    place: { chatId: string; runId: string; replyTo?: string },
    signal: AbortSignal,
  ) => {
    const paused = AbortSignal.any([signal, draft.closing.signal]);
    while (!draft.isClosed && !signal.aborted && draft.wanted !== draft.shown) {
      const text = draft.wanted;
      let pauseMs = options.everyMs;
      try {
        const platformId = options.store.get(key(place.runId));
        if (platformId === undefined) {
          const replyTo = place.replyTo === undefined ? {} : { replyTo: place.replyTo };
          options.store.set(key(place.runId), await options.create({ chatId: place.chatId, text, ...replyTo }, signal));
        } else {
          await options.edit({ chatId: place.chatId, platformId, text }, signal);
        }
        draft.shown = text;
      } catch (error) {
        const asked = error instanceof ChannelError ? error.retryAfterMs : undefined;
        options.log.debug({ err: error, runId: place.runId }, 'draft not shown');
        if (asked === undefined || asked > longestPauseMs) {
          draft.isClosed = true;
          return;
        }
        pauseMs = asked;
      }
      await options.sleep(pauseMs, paused);
    }
  };

  return {
    show({ text, ...place }, signal) {
      let draft = drafts.get(place.runId);
      if (!draft) {
        draft = { wanted: '', shown: '', isClosed: false, closing: new AbortController(), work: undefined };
        drafts.set(place.runId, draft);
      }
      draft.wanted = text;
      if (draft.isClosed || draft.work) return;
      const own = draft;
      own.work = work(own, place, signal).finally(() => {
        own.work = undefined;
      });
    },
    async take(runId) {
      const draft = drafts.get(runId);
      if (draft) {
        draft.isClosed = true;
        draft.closing.abort();
        await draft.work;
      }
      return options.store.get(key(runId));
    },
    forget(runId) {
      drafts.delete(runId);
      options.store.delete(key(runId));
    },
  };
}
