/** Recognises what must never be remembered: keys, tokens, passwords, card numbers. Rather one refusal too many. */

export type SecretKind = 'api key' | 'private key' | 'token' | 'password' | 'card number';

const patterns: readonly [SecretKind, RegExp][] = [
  ['private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ['api key', /\b(?:sk|pk|rk)[-_](?=[\w-]*\d)[A-Za-z0-9_-]{16,}/],
  ['api key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/],
  ['api key', /\bAIza[\w-]{35}/],
  ['api key', /\bLTAI[A-Za-z0-9]{12,}/],
  [
    'token',
    /\b(?:gh[opusr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{18,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,})/,
  ],
  ['token', /\bxox[abeoprs]-[\w-]{10,}|\bxapp-[\w-]{10,}/],
  ['token', /\b\d{8,10}:AA[\w-]{32,}/],
  ['token', /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+/],
  ['token', /\bBearer\s+[\w.~+/-]{16,}/i],
  ['password', /\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]+:[^\s@/]{3,}@/i],
];

const englishPassword =
  /\b(?:password|passwd|passcode|passphrase|pwd|api[ _-]?key|secret[ _-]?key|access[ _-]?token|pin(?: code)?)\b(?:\s+(?:for|of|to)\s+[^:=]{1,60}?)?\s*(?:\bis\b|\bwas\b|:|=)\s*["'`“]?([^\s"'`”,;]{4,})/gi;
const chinesePassword =
  /(?:密码|口令|密钥|私钥|验证码|取款码|令牌)[^\n，。,;；]{0,12}?(?:是|为|:|=)\s*["'`“「]?[!-~]{4,}/u;
/** What follows "the password is" in ordinary talk. */
const plainWords =
  /^(?:required|needed|wrong|incorrect|correct|invalid|expired|expiring|changed|reset|stored|saved|kept|written|known|forgotten|missing|empty|blank|optional|mandatory|shared|hidden|encrypted|protected|there|here|somewhere|never|always|still|only|also|being|managed|with|from|that|this|the|not|in|on|at|too|very|case-sensitive|case|rotated|long|short|strong|weak|secure|important|unknown|different|same)$/i;

/** The kind of the first secret in the text, if any. */
export function findSecret(text: string): SecretKind | undefined {
  const plain = text.normalize('NFKC').replace(/[\u200b-\u200d\u2060\ufeff\u00ad]/g, '');
  const found = patterns.find(([, pattern]) => pattern.test(plain));
  if (found) return found[0];
  if (holdsPassword(plain)) return 'password';
  return holdsCardNumber(plain) ? 'card number' : undefined;
}

function holdsPassword(text: string): boolean {
  for (const [, value] of text.matchAll(englishPassword)) {
    if (!plainWords.test(value!.replace(/[.!?)]+$/, ''))) return true;
  }
  return chinesePassword.test(text);
}

/** Lengths and first digits of the large issuers, so that an order number that passes the check sum by chance seldom counts. */
const cardShape =
  /^(?:4\d{12}(?:\d{3})?(?:\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d\d)\d{12}|62\d{14,17}|35\d{14}|3(?:0[0-5]|[68]\d)\d{11})$/;

function holdsCardNumber(text: string): boolean {
  for (const [match] of text.matchAll(/(?<![\dA-Za-z.-])\d(?:[ -]?\d){12,18}(?![\dA-Za-z])/g)) {
    const digits = match.replace(/\D/g, '');
    if (cardShape.test(digits) && passesCheckSum(digits)) return true;
  }
  return false;
}

function passesCheckSum(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
