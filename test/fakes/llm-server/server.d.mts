/** Types of the fake LLM server; see server.mjs. */

export type Family = 'openai' | 'anthropic' | 'responses';

export interface FakeCall {
  name: string;
  input?: unknown;
  /** Default: made up, unique. */
  id?: string;
  /** Instead of `input`: the argument text, valid or not. */
  rawArguments?: string;
  /** Gemini's signature beside the call. */
  signature?: string;
}

/** One answer. Nothing at all: `ok: <last user text>` at once. */
export interface FakeStep {
  /** An array: one piece per delta. */
  text?: string | string[];
  reasoning?: string | string[];
  calls?: FakeCall[];
  /** The family's own word; null: the stream ends without one. Responses: the reason why it is incomplete. */
  finish?: string | null;
  /** null: none is sent. `input` includes `cached`. */
  usage?: { input: number; output: number; cached?: number; reasoning?: number } | null;
  /** Before the first byte. */
  delayMs?: number;
  /** After each frame. */
  chunkDelayMs?: number;
  /** In one process only: the answer waits for it. */
  until?: Promise<unknown>;
  /** In one process only: half of a stream, or all of it before its error, is sent; the rest waits for it. */
  midway?: Promise<unknown>;
  status?: number;
  error?: { message: string; type?: string; code?: string | number | null };
  headers?: Record<string, string>;
  /** Sent as it is, as text/html unless `quirks.contentType` says otherwise. */
  body?: string;
  quirks?: FakeQuirks;
}

export interface FakeQuirks {
  /** No space after `data:`. */
  spaceless?: boolean;
  crlf?: boolean;
  /** A comment before each frame. */
  comments?: boolean;
  /** Bytes per write: splits lines and characters. */
  split?: number;
  missingLastNewline?: boolean;
  /** No `[DONE]`, no `message_stop`. */
  noDone?: boolean;
  noEventLines?: boolean;
  unknownEvents?: boolean;
  /** Chat: default is a frame of its own at the end. */
  usage?: 'last' | 'every-frame' | 'none';
  /** Chat: frames with `choices: []` first and last, and one with null. */
  emptyChoices?: boolean;
  /** With `error`: as a frame of a 200 stream instead of a status. */
  errorFrame?: 'first' | 'middle';
  /** With `error`: as JSON with status 200. */
  errorBody?: boolean;
  /** `base_resp.status_code` in a 200. */
  baseResp?: number;
  stall?: 'headers' | 'start' | 'middle';
  close?: 'headers' | 'start' | 'middle' | 'before-finish';
  /** Answers a request for a stream with one JSON body. */
  jsonInsteadOfStream?: boolean;
  contentType?: string;
  /** Chat: default `reasoning_content`. */
  reasoningField?: string;
  toolCalls?: {
    index?: 'own' | 'shared' | 'none';
    /** `same`: all calls have one id; `every`: id and name in each delta. */
    ids?: 'first' | 'every' | 'none' | 'same';
    arguments?: 'fragments' | 'whole' | 'cumulative' | 'object';
  };
}

/** Beyond the protocol: what some servers of a family demand or refuse. */
export interface FakeRules {
  /** Chat: `demand` it on tool-call messages, or `refuse` it on all. */
  reasoningContent?: 'demand' | 'refuse';
  /** Anthropic: false lets any thinking block pass. */
  signatures?: boolean;
}

/** What tests look at; the rest is there too. */
export interface FakeBody extends Record<string, unknown> {
  messages: FakeMessage[];
  input: FakeMessage[];
  tools?: Record<string, unknown>[];
}

export interface FakeMessage extends Record<string, unknown> {
  role: string;
  content: unknown;
}

export interface FakeRequest {
  family: Family;
  path: string;
  headers: Record<string, string | string[] | undefined>;
  /** As it came. */
  readonly body: string;
  readonly json: FakeBody;
  /** ms since the epoch. */
  at: number;
  /** The client went away before the answer was complete. */
  isAborted: boolean;
  /** When the answer is over, one way or the other; resolves to `isAborted`. */
  closed: Promise<boolean>;
  /** Why it was refused with 400 or 401. */
  refusal?: string;
}

export type FakeResponder = (request: FakeRequest) => FakeStep | undefined | Promise<FakeStep | undefined>;

export interface LlmServerOptions {
  port?: number;
  /** Default true: requests that the real servers refuse are refused. */
  isStrict?: boolean;
  /** Answers at once and the same, without reading the request. */
  isBench?: boolean;
  quirks?: FakeQuirks;
  rules?: FakeRules;
  /** When the script is empty. */
  respond?: FakeResponder | undefined;
  models?: string[];
  /** The only key that is accepted; default any. */
  key?: string;
}

export interface LlmServer {
  /** `http://127.0.0.1:port`. */
  url: string;
  /** With `/v1`: what a configuration's `baseUrl` takes. */
  baseUrl: string;
  /** Oldest first; the last 5000, with `isBench` the last 500. */
  requests: FakeRequest[];
  script(...steps: (FakeStep | FakeResponder)[]): void;
  /** Forgets requests and script, and changes settings. */
  reset(change?: Pick<LlmServerOptions, 'isStrict' | 'quirks' | 'rules' | 'respond'>): void;
  readonly waiting: number;
  close(): Promise<void>;
}

export function startLlmServer(options?: LlmServerOptions): Promise<LlmServer>;
