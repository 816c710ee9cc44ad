/** Two ways to answer `POST /api/chat`: one JSON object at the end of the turn, or the turn's events as they come. */
import type { ServerResponse } from 'node:http';
import type { Logger } from '../../src/observability/log.js';
import type { ControlChannel } from '../../src/protocol/control.js';
import { describeError, UserError } from '../../src/protocol/errors.js';
import type { AgentEvent, EventOf } from '../../src/protocol/events.js';
import type { ChatAnswer } from '../../src/protocol/http-bodies.js';
import type { InboundMessage } from '../../src/protocol/messages.js';
import { followAnswer } from '../answer-follower.js';
import type { EventSink } from '../event-cursor.js';
import type { RunWatch } from '../run-watch.js';

/** One request that waits for its turn. */
export interface ChatRequest {
  /** The message is stored. */
  begin(receipt: { duplicate: boolean }): void;
  /** Keeps proxies from closing a silent stream; gives up a reader that takes nothing. */
  ping(): void;
  /** The server goes down with the turn unfinished. */
  shutDown(): void;
  /** The connection has ended, or the message was not taken. The run goes on. */
  close(): void;
}

export interface AnswerParts {
  control: ControlChannel;
  watch: RunWatch;
  message: InboundMessage;
  isFreshId: boolean;
  response: ServerResponse;
  log: Logger;
}

export function answerWithJson(parts: AnswerParts): ChatRequest {
  const { response, message, log } = parts;
  const fail = (error: unknown) => {
    log.error({ err: error, messageId: message.messageId }, 'answer could not be read');
    sendJson(response, 500, { error: describeError(error) });
  };
  const follower = followAnswer({
    ...parts,
    pausesLive: false,
    sink: {
      isFull: () => false,
      write: (event) => {
        if (event.type !== 'run-end') return;
        const [status, body] = finalAnswer(event, message.messageId);
        sendJson(response, status, body);
        follower.close();
      },
      fail,
    },
    onExhausted: () => fail(new Error(`the run of message ${message.messageId} has no end`)),
  });
  return {
    begin: ({ duplicate }) => (duplicate ? follower.replay(0) : follower.open()),
    ping: () => {},
    shutDown: () => sendJson(response, 503, { error: describeError(notAnsweredYet()) }),
    close: () => follower.close(),
  };
}

function finalAnswer(event: EventOf<'run-end'>, messageId: string): [status: number, body: object] {
  const { sessionId, runId, text, stopReason, usage, error } = event;
  if (error) {
    const status = error.code === 'shutting_down' ? 503 : 502;
    return [status, { error: { ...error, details: { sessionId, runId } } }];
  }
  return [200, { sessionId, messageId, runId, text, stopReason, usage } satisfies ChatAnswer];
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

/** A reader with more than this unread gets no live events; they are read from the store when it has drained. */
const maxUnreadBytes = 1024 * 1024;
/** A reader that took nothing over so many pings is gone. */
const maxStuckPings = 4;

export interface EventStreamParts extends AnswerParts {
  encode: (event: AgentEvent) => string;
  /** Events up to this one are known to the client; counts only when the message was sent before. */
  lastEventId: number;
}

export function answerWithEvents(parts: EventStreamParts): ChatRequest {
  const { response, log, message } = parts;
  let stuckPings = 0;

  const send = (text: string) => {
    if (!response.writableEnded && !response.destroyed) response.write(text);
  };
  const end = () => {
    if (!response.writableEnded && !response.destroyed) response.end();
  };
  const fail = (error: unknown) => {
    send(`event: error\ndata: ${JSON.stringify({ error: describeError(error) })}\n\n`);
    end();
  };
  const sink: EventSink = {
    isFull: () => response.writableLength > maxUnreadBytes,
    write(event) {
      if (event.type === 'prompt-snapshot') return;
      send(parts.encode(event));
      if (event.type !== 'run-end') return;
      follower.close();
      end();
    },
    fail(error) {
      log.error({ err: error, messageId: message.messageId }, 'answer could not be read');
      fail(error);
    },
  };
  const follower = followAnswer({ ...parts, pausesLive: true, sink, onExhausted: end });

  response.on('drain', () => {
    stuckPings = 0;
    follower.resume();
  });
  return {
    begin({ duplicate }) {
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-cache, no-transform',
        'X-Accel-Buffering': 'no',
      });
      response.flushHeaders();
      if (duplicate) follower.replay(parts.lastEventId);
      else follower.open();
    },
    ping() {
      if (!response.headersSent) return;
      if (!sink.isFull()) send(': ping\n\n');
      else if (++stuckPings >= maxStuckPings) response.destroy();
    },
    shutDown: () => (response.headersSent ? fail(notAnsweredYet()) : undefined),
    close: () => follower.close(),
  };
}

/** Followers of one run get an event one after the other, so it is written as text only once. */
export function createEventEncoder(): (event: AgentEvent) => string {
  let last: AgentEvent | undefined;
  let text = '';
  return (event) => {
    if (event !== last) {
      last = event;
      text = asServerSentEvent(event);
    }
    return text;
  };
}

function asServerSentEvent(event: AgentEvent): string {
  // An end that only says "after the restart" is not stored: a client must not resume behind it.
  const id = event.type === 'run-end' && event.error?.code === 'shutting_down' ? '' : `id: ${event.id}\n`;
  return `event: ${event.type}\n${id}data: ${JSON.stringify(event)}\n\n`;
}

function notAnsweredYet(): UserError {
  return new UserError(
    'shutting_down',
    'PicoBot is stopping. The message is kept and will be answered after the restart: send it again with the same messageId to get the answer.',
    { status: 503 },
  );
}
