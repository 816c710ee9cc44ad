/** The HTTP door: `POST /api/chat` answers when the turn has ended or streams its events; its mailbox is the transcript. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Context } from 'hono';
import type { HostEnv, HttpHost } from '../../src/gateway/http-host.js';
import type { Logger } from '../../src/observability/log.js';
import type { ControlChannel, EventFeed } from '../../src/protocol/control.js';
import { UserError } from '../../src/protocol/errors.js';
import { chatBody, stopBody } from '../../src/protocol/http-bodies.js';
import { type ChatAddress, sessionId } from '../../src/protocol/ids.js';
import type { InboundMessage } from '../../src/protocol/messages.js';
import { checkShape, readJsonBytes } from '../../src/protocol/read-json.js';
import type { Channel, Receive } from '../channel.js';
import { findDialog, findOwnDialog } from '../dialog-reference.js';
import { type Every, every } from '../every.js';
import { watchRuns } from '../run-watch.js';
import { answerWithEvents, answerWithJson, type ChatRequest, createEventEncoder } from './answers.js';

export interface HttpChannelOptions {
  control: ControlChannel;
  feed: EventFeed;
  /** Channels whose dialogs may be continued here. */
  isLocalChannel: (channel: string) => boolean;
  now: () => number;
  newId: (prefix: string) => string;
  log: Logger;
  /** Default: real timers. */
  every?: Every;
}

const chat: ChatAddress = { channel: 'http', chatId: 'default' };
const pingIntervalMs = 15_000;

export function httpChannel(options: HttpChannelOptions): Channel {
  const { control, log } = options;
  const watch = watchRuns(options.feed);
  const encode = createEventEncoder();
  /** Requests that wait for an answer. */
  const open = new Set<ChatRequest>();
  let receive: Receive = async () => {
    throw new UserError('not_ready', 'PicoBot is starting. Try again in a moment.', { status: 503 });
  };
  let stopPings: (() => void) | undefined;

  const track = (request: ChatRequest) => {
    open.add(request);
    stopPings ??= (options.every ?? every)(pingIntervalMs, () => {
      for (const each of open) each.ping();
    });
  };
  const untrack = (request: ChatRequest) => {
    open.delete(request);
    if (open.size > 0) return;
    stopPings?.();
    stopPings = undefined;
  };

  async function answerChat(c: Context<HostEnv>): Promise<void> {
    const body = checkShape(chatBody, readJsonBytes(c.env.body));
    const target = body.sessionId === undefined ? chat : findOwnDialog(body.sessionId, chat, options);
    const message: InboundMessage = {
      ...target,
      messageId: body.messageId ?? options.newId('m'),
      sender: { id: 'owner', role: 'owner' },
      chatType: 'direct',
      mentioned: true,
      text: body.text,
      attachments: [],
      sentAt: options.now(),
      expectsOwnAnswer: true,
    };
    const wantsEvents = body.stream ?? c.req.header('accept')?.includes('text/event-stream') ?? false;
    const parts = { control, watch, message, isFreshId: body.messageId === undefined, response: c.env.outgoing, log };
    const request = wantsEvents
      ? answerWithEvents({ ...parts, encode, lastEventId: lastEventId(c.req.header('last-event-id')) })
      : answerWithJson(parts);
    track(request);
    try {
      const { duplicate } = await receive(message);
      request.begin({ duplicate });
      await untilClosed(c.env.outgoing);
    } finally {
      request.close();
      untrack(request);
    }
  }

  return {
    id: 'http',
    maxTextLength: Number.MAX_SAFE_INTEGER,
    isIdempotent: true,
    async run(receiveMessage, signal) {
      receive = receiveMessage;
      if (!signal.aborted) await once(signal, 'abort');
      receive = async () => {
        throw new UserError('shutting_down', 'PicoBot is stopping. Send the message again in a moment.', {
          status: 503,
        });
      };
    },
    // Clients read the event feed and the transcript, where the answer is already.
    send: async () => ({}),
    mount(host: HttpHost) {
      host.routes.post('/api/chat', async (c) => {
        await answerChat(c);
        return alreadySent;
      });
      host.routes.post('/api/chat/stop', async (c) => {
        const { sessionId: reference } = checkShape(stopBody, c.env.body.length === 0 ? {} : readJsonBytes(c.env.body));
        const id = reference === undefined ? currentDialog() : sessionId(findDialog(reference, chat, control));
        if (id === undefined) return c.json({ stopped: false, cleared: 0 });
        return c.json(await control.stop(id, 'stopped over HTTP'));
      });
      host.onClose(() => {
        for (const request of open) request.shutDown();
      });
    },
  };

  function currentDialog(): string | undefined {
    return control.list({ ...chat, limit: 200 }).items.find((dialog) => dialog.current)?.id;
  }
}

function untilClosed(response: ServerResponse): Promise<void> {
  if (response.closed || response.destroyed) return Promise.resolve();
  return new Promise((resolve) => response.once('close', resolve));
}

/** Tells the HTTP adapter that the response was written to the socket by hand. */
const alreadySent = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });

function lastEventId(header: string | undefined): number {
  if (header === undefined || header === '') return 0;
  const id = /^\d{1,15}$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isNaN(id)) throw new UserError('invalid_request', 'Last-Event-ID must be the id of an event.');
  return id;
}
