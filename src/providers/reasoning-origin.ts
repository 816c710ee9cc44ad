/** Where stored reasoning came from: the one place that writes and reads `ReasoningPart.metadata`. */
import type { ReasoningPart } from '../protocol/events.js';
import type { WireFamily } from './wire-types.js';

export interface ReasoningOrigin {
  family: WireFamily;
  platform: string;
  /** Opaque to us: signature, encrypted content, item id, as the SDK's `providerOptions`. */
  wire?: Record<string, Record<string, unknown>>;
  /** The part is no text but the signature of this call. */
  callId?: string;
}

export function withOrigin(text: string, origin: ReasoningOrigin): ReasoningPart {
  return { text, metadata: { ...origin } };
}

/** Undefined for reasoning of unknown origin, which is never sent back. */
export function readReasoningOrigin(part: ReasoningPart): (ReasoningOrigin & { isReplayable: boolean }) | undefined {
  const origin = part.metadata as unknown as ReasoningOrigin | undefined;
  if (typeof origin?.family !== 'string' || typeof origin.platform !== 'string') return undefined;
  return { ...origin, isReplayable: isReplayable(origin) };
}

/** Without its signature or its encrypted content a block would be refused. */
function isReplayable({ wire }: ReasoningOrigin): boolean {
  const anthropic = wire?.anthropic;
  return Boolean(anthropic?.signature || anthropic?.redactedData || wire?.openai?.reasoningEncryptedContent);
}
