/** What a wire needs of `fetch`. The global one fits; `createHttpFetch` is the same over node:http at half the cost. */

export interface WireRequest {
  method: 'POST';
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

/** One reader per response; `read` calls do not overlap. */
export interface WireReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

export interface WireResponse {
  status: number;
  headers: { get(name: string): string | null };
  body: { getReader(): WireReader } | null;
}

/** Rejects with the transport's error, or with an `AbortError` when the signal aborts. Never follows a redirect blindly. */
export type WireFetch = (url: string, request: WireRequest) => Promise<WireResponse>;

/** The wire families: chat completions, messages, responses. */
export type WireFamily = 'openai' | 'anthropic' | 'responses';
