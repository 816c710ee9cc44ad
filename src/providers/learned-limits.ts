/**
 * What one model endpoint refuses, learnt from its refusals: servers that claim a protocol take different parts of it.
 * A call that was refused for such a part is sent again without it, once; later calls leave it out from the start.
 */
import type { ProviderError } from './provider-error.js';

export interface LearnedLimits {
  reasoningEcho: 'own' | 'always' | 'never';
  /** Chat completions: `stream_options.include_usage`. */
  streamOptions: boolean;
  /** Anthropic: `cache_control`. */
  cacheControl: boolean;
  /** The parameters that switch thinking. */
  thinkingSwitch: boolean;
}

export function noLimitsYet(): LearnedLimits {
  return { reasoningEcho: 'own', streamOptions: true, cacheControl: true, thinkingSwitch: true };
}

/** Notes what `error` teaches. True: something was learnt, the same request is worth another try. */
export function learnFrom(error: ProviderError, limits: LearnedLimits): boolean {
  if (error.kind !== 'bad-request') return false;
  const text = error.message;
  if (/reasoning_content|reasoning content/i.test(text)) {
    const isWanted = /missing|required|must (be|have|include|contain)|need|缺/i.test(text) && !/must not/i.test(text);
    return set(limits, 'reasoningEcho', isWanted ? 'always' : 'never');
  }
  if (/signature|thinking block|encrypted_content|\breasoning item\b|'reasoning'/i.test(text)) {
    return set(limits, 'reasoningEcho', 'never');
  }
  if (/stream_options|include_usage/i.test(text)) return set(limits, 'streamOptions', false);
  if (/cache_control/i.test(text)) return set(limits, 'cacheControl', false);
  if (/thinking|reasoning_effort|reasoning\.effort/i.test(text)) return set(limits, 'thinkingSwitch', false);
  return false;
}

function set<Key extends keyof LearnedLimits>(limits: LearnedLimits, key: Key, value: LearnedLimits[Key]): boolean {
  if (limits[key] === value) return false;
  limits[key] = value;
  return true;
}
