/** From what a platform said to why it failed. Platforms agree on little: codes, types and words are all looked at. */
import type { ProviderErrorKind } from './provider-error.js';

export interface Complaint {
  /** HTTP status; undefined when the failure came inside a 200. */
  status?: number | undefined;
  /** `code` and `type` of the error object, as text. */
  code: string;
  message: string;
}

const contextTooLong = new RegExp(
  [
    'context[ _-]?length',
    'context[ _-]?window',
    'context[ _-]?size',
    'context overflow',
    'exceeds? (the )?(model )?context',
    'prompt (is )?too long',
    'prompt exceeds',
    'input is too long',
    'input (length|token).*exceed',
    'range of input length',
    'input tokens exceed',
    'too many (input )?tokens',
    'maximum prompt length',
    'token limit',
    'maximum number of tokens allowed',
    'reduce the length of the (messages|prompt|input)',
    'request_too_large',
    'request (is )?too large',
    'payload too large',
    'total (message )?token length exceed',
    'max_new_tokens must be',
    '超长',
    '上下文.{0,6}(长度|超)',
    '超(过|出).{0,12}(长度|token)',
  ].join('|'),
  'i',
);
const contentRefused =
  /content[ _-]?(policy|filter|management|moderation)|data_inspection_failed|inappropriate content|safety (system|policy|reasons)|sensitive (content|words?|information)|new_sensitive|flagged|敏感|违规|不合规/i;
const outOfMoney =
  /insufficient[ _-]?(quota|balance|funds|credit)|exceeded your current quota|quota[ _-]?exceeded|exceeded_current_quota|credit balance|billing|out of credits?|payment required|arrearage|余额|欠费/i;
const noSuchModel =
  /model[ _-]?not[ _-]?(found|exist)|model .{0,80}(does not exist|not found|not exist|is not available)|no such model|unknown model|invalid model|not a valid model|模型不存在/i;
const badKey =
  /invalid[ _-]?api[ _-]?key|incorrect api key|authentication|unauthorized|api key (is )?(invalid|not valid|missing)|login fail/i;
const rateLimited = /rate[ _-]?limit|too many requests|throttl|限流|频率/i;
const overloaded =
  /overloaded|unavailable|server[ _-]?error|internal error|timed? ?out|busy|capacity|try again later|繁忙/i;

/** Word for word from the platforms' documents: `base_resp.status_code` of a 200. */
const baseRespStatuses: Record<number, number> = {
  1000: 500,
  1001: 504,
  1002: 429,
  1004: 401,
  1008: 402,
  1013: 500,
  1024: 500,
  1026: 400,
  1027: 400,
  1033: 500,
  1039: 429,
  2013: 400,
};

export function statusOfBaseResp(code: number): number {
  return baseRespStatuses[code] ?? 500;
}

export function classify({ status, code, message }: Complaint): ProviderErrorKind {
  const text = `${code} ${message}`;
  if (status === 401) return 'auth';
  if (status === 402) return 'quota';
  if (status === 413) return 'context-too-long';
  if (outOfMoney.test(text)) return 'quota';
  // A limit of tokens per minute is a matter of waiting, unless the request alone is larger than it.
  if (contextTooLong.test(text) && (status !== 429 || /too large|too long/i.test(text))) return 'context-too-long';
  if (status === 429) return 'rate-limited';
  if (contentRefused.test(text)) return 'content-refused';
  if (status === 403) return 'auth';
  if (noSuchModel.test(text)) return 'not-found';
  if (status === undefined) return classifyWords(text);
  if (status === 404) return 'not-found';
  if (status >= 500 || status === 408 || status === 409 || status === 425) return 'overloaded';
  return badKey.test(text) ? 'auth' : 'bad-request';
}

/** An error inside a 200 says its status in words, or as a number in `code`. */
function classifyWords(text: string): ProviderErrorKind {
  if (badKey.test(text) || /permission/i.test(text)) return 'auth';
  if (rateLimited.test(text)) return 'rate-limited';
  if (overloaded.test(text)) return 'overloaded';
  return 'bad-request';
}

/** `code` when it is an HTTP status of a failure. */
export function statusOfCode(code: unknown): number | undefined {
  const status = typeof code === 'string' && /^[45]\d\d$/.test(code) ? Number(code) : code;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600 ? status : undefined;
}
