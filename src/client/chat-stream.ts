/**
 * One message over `POST /api/chat` as a stream of events. A stream that breaks is taken up again where it stood, with
 * the same message id, so the message runs once.
 */
import { UserError } from '../protocol/errors.js';
import type { AgentEvent } from '../protocol/events.js';
import { type Clock, pause, systemClock } from './clock.js';
import { readServerSentEvents } from './event-stream.js';
import { type HttpOptions, request } from './http.js';
import { reconnectPauseMs } from './reconnect-pause.js';

export interface ChatStreamOptions extends HttpOptions {
  sessionId: string;
  messageId: string;
  text: string;
  /** Leaves the stream; the run goes on. */
  signal: AbortSignal;
  clock?: Clock;
  random?: () => number;
  /** The stream broke; the next attempt comes after `pauseMs`. */
  onBreak?: (pauseMs: number) => void;
}

/** In a row without anything new: about three minutes. */
const maxAttempts = 10;
/** The server sends at least a comment every 15 s. */
export const silenceMs = 45_000;
/** Codes of the daemon that stops or starts; the message is kept. */
const passing: ReadonlySet<string> = new Set(['shutting_down', 'not_ready']);

/**
 * Ends after `run-end`. Throws `UserError`: what the server answered when it did not take the message, `connection_lost`
 * when it did not come back.
 */
export async function* streamChat(options: ChatStreamOptions): AsyncGenerator<AgentEvent> {
  const { signal } = options;
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  let lastEventId = 0;
  let hasBegun = false;
  for (let failures = 0; ; ) {
    try {
      for await (const event of once(options, lastEventId, clock)) {
        hasBegun = true;
        if (isPutOff(event)) break;
        if (event.id <= lastEventId) continue;
        failures = 0;
        lastEventId = event.id;
        yield event;
        if (event.type === 'run-end') return;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!mayPass(error, hasBegun)) throw error;
      hasBegun = true;
    }
    signal.throwIfAborted();
    failures += 1;
    if (failures > maxAttempts) throw lost(options);
    const pauseMs = reconnectPauseMs(failures - 1, random());
    options.onBreak?.(pauseMs);
    await pause(clock, pauseMs, signal);
    signal.throwIfAborted();
  }
}

/** The stream was there and broke. */
class BrokenStream extends Error {}

async function* once(options: ChatStreamOptions, lastEventId: number, clock: Clock): AsyncGenerator<AgentEvent> {
  const { sessionId, messageId, text } = options;
  const silence = new AbortController();
  const signal = AbortSignal.any([options.signal, silence.signal]);
  let cancel = () => {};
  const listen = () => {
    cancel();
    cancel = clock.after(silenceMs, () => silence.abort());
  };
  try {
    listen();
    const response = await request(options, 'api/chat', {
      method: 'POST',
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...(lastEventId > 0 && { 'last-event-id': String(lastEventId) }),
      },
      body: JSON.stringify({ sessionId, messageId, text }),
    });
    try {
      for await (const { type, data } of readServerSentEvents(bodyOf(response), listen)) {
        if (type === 'error') throw errorOf(data);
        yield JSON.parse(data) as AgentEvent;
      }
    } catch (error) {
      if (error instanceof UserError && !passing.has(error.code)) throw error;
      throw new BrokenStream('the stream broke', { cause: error });
    }
  } catch (error) {
    if (silence.signal.aborted) throw new BrokenStream('the server fell silent', { cause: error });
    throw error;
  } finally {
    cancel();
  }
}

async function* bodyOf(response: Response): AsyncGenerator<Uint8Array> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream') || !response.body) {
    throw new UserError('bad_answer', 'The server answered without a stream. Check the address.');
  }
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** An end that only says "after the restart". */
function isPutOff(event: AgentEvent): boolean {
  return event.type === 'run-end' && event.error !== undefined && passing.has(event.error.code);
}

/** Once the daemon was there, every failure to reach it may pass. */
function mayPass(error: unknown, hasBegun: boolean): boolean {
  if (error instanceof BrokenStream) return true;
  if (!(error instanceof UserError)) return false;
  if (error.code === 'connection_lost') return true;
  return hasBegun && ['not_running', 'unreachable', ...passing].includes(error.code);
}

function errorOf(data: string): UserError {
  const { error } = JSON.parse(data) as { error?: { code?: string; message?: string } };
  return new UserError(error?.code ?? 'stream_failed', error?.message ?? 'The server could not go on.');
}

function lost({ url, sessionId }: ChatStreamOptions): UserError {
  return new UserError(
    'connection_lost',
    `The connection to ${url} was lost and did not come back. The message is kept there: picobot sessions show ${sessionId}`,
  );
}
