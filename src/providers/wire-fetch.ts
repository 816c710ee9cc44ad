/**
 * The `fetch` that the SDK gets: sets limits of time, turns failures into `ProviderError`s wherever they hide, and
 * puts a platform's odd answers right on their way through.
 */
import type { WireErrors } from './errors.js';
import type { FrameRules } from './frames/frame-rules.js';
import { isObject } from './frames/frame-rules.js';
import { createFrameStream, type FrameStream } from './frames/frame-stream.js';
import type { WireFetch, WireReader, WireResponse } from './wire-types.js';

const maxErrorBytes = 64 * 1024;
const maxAnswerBytes = 64 * 1024 * 1024;

export interface WireFetchOptions {
  fetch: WireFetch;
  frameRules: () => FrameRules;
  errors: WireErrors;
  /** False: the model is asked for one JSON answer. */
  isStreaming: boolean;
  /** Put behind the URL: `?…` or empty. */
  query: string;
  /** Longest silence: until the first byte and between two; until the end of the answer when not streaming. */
  silenceTimeoutMs: number;
}

/** What the SDK reads of a response. */
export interface SdkResponse {
  ok: true;
  status: number;
  statusText: string;
  headers: Map<string, string>;
  body: { getReader(): WireReader & { releaseLock(): void } };
}

export interface SdkRequest {
  headers: Record<string, string>;
  body: string;
  signal?: AbortSignal;
}

export function createWireFetch(options: WireFetchOptions): (url: string, request: SdkRequest) => Promise<SdkResponse> {
  const { errors, isStreaming } = options;
  return async (url, { headers, body, signal }) => {
    const call = watchCall(signal, options.silenceTimeoutMs, errors);
    try {
      const response = await call.watched(
        options.fetch(url + options.query, {
          method: 'POST',
          headers: { ...headers, 'user-agent': 'picobot' },
          body,
          signal: call.signal,
        }),
      );
      if (response.status < 200 || response.status >= 300) {
        const text = await readText(response, call, maxErrorBytes);
        throw errors.ofResponse(response.status, response.headers, text);
      }
      if (isStreaming)
        return sdkResponse(streamReader(response, createFrameStream(options.frameRules(), errors), call));
      const answer = readAnswer(await readText(response, call, maxAnswerBytes), options);
      call.end({ abort: false });
      return sdkResponse(bytesReader(new TextEncoder().encode(answer)));
    } catch (error) {
      call.end();
      throw call.reasonOf(error);
    }
  };
}

interface WatchedCall {
  signal: AbortSignal;
  /** Waits for `work`, at most as long as silence may last. */
  watched<T>(work: Promise<T>): Promise<T>;
  /** Frees timer and listener; aborts what still runs. */
  end(options?: { abort: boolean }): void;
  /** The caller's abort, the stall, or what went wrong on the way. */
  reasonOf(error: unknown): unknown;
}

/**
 * The SDK and the transport only ever see an `AbortError` without a reason: anything else would be taken for a
 * failure of the network.
 */
function watchCall(outer: AbortSignal | undefined, timeoutMs: number, errors: WireErrors): WatchedCall {
  const controller = new AbortController();
  let isWaiting = false;
  let isStalled = false;
  const stop = () => controller.abort();
  if (outer?.aborted) stop();
  outer?.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => {
    if (!isWaiting) return;
    isStalled = true;
    controller.abort();
  }, timeoutMs);
  return {
    signal: controller.signal,
    async watched(work) {
      timer.refresh();
      isWaiting = true;
      try {
        return await work;
      } finally {
        isWaiting = false;
      }
    },
    end({ abort } = { abort: true }) {
      clearTimeout(timer);
      outer?.removeEventListener('abort', stop);
      if (abort) controller.abort();
    },
    reasonOf(error) {
      if (outer?.aborted) return new DOMException('The call was aborted', 'AbortError');
      if (isStalled) return errors.of('network', `No answer and no sign of life for ${timeoutMs / 1000} s: given up.`);
      return errors.ofThrown(error);
    },
  };
}

function streamReader(response: WireResponse, frames: FrameStream, call: WatchedCall): WireReader {
  const reader = response.body?.getReader();
  let isDone = false;
  return {
    async read() {
      try {
        while (!isDone) {
          const result = reader ? await call.watched(reader.read()) : { done: true };
          isDone = result.done;
          const bytes = result.value ? frames.feed(result.value) : isDone ? frames.end() : undefined;
          if (isDone) call.end({ abort: false });
          if (bytes && bytes.length > 0) return { done: false, value: bytes };
        }
        return { done: true, value: undefined };
      } catch (error) {
        isDone = true;
        call.end();
        throw call.reasonOf(error);
      }
    },
    async cancel() {
      isDone = true;
      call.end();
      await reader?.cancel().catch(() => {});
    },
  };
}

async function readText(response: WireResponse, call: WatchedCall, maxBytes: number): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  while (reader && size < maxBytes) {
    const { done, value } = await call.watched(reader.read());
    if (done) break;
    size += value?.length ?? 0;
    text += decoder.decode(value, { stream: true });
  }
  if (size >= maxBytes) await reader?.cancel().catch(() => {});
  return text + decoder.decode();
}

function readAnswer(text: string, { errors, frameRules }: WireFetchOptions): string {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    const isPage = text.trimStart().startsWith('<');
    if (isPage) throw errors.of('bad-request', 'A web page came instead of an answer: the base URL seems to be wrong.');
    throw errors.of('network', 'The answer was cut off or is not JSON.');
  }
  const error = errors.ofPayload(answer);
  if (error) throw error;
  return isObject(answer) ? JSON.stringify(frameRules().rewriteAnswer(answer)) : text;
}

function bytesReader(bytes: Uint8Array): WireReader {
  let isRead = false;
  return {
    async read() {
      if (isRead) return { done: true, value: undefined };
      isRead = true;
      return { done: false, value: bytes };
    },
    cancel: async () => {},
  };
}

function sdkResponse(reader: WireReader): SdkResponse {
  const sdkReader = { ...reader, releaseLock: () => {} };
  return { ok: true, status: 200, statusText: 'OK', headers: new Map(), body: { getReader: () => sdkReader } };
}
