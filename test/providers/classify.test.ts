import { describe, expect, test } from 'vitest';
import { classify } from '../../src/providers/classify.js';

const tooLong = [
  "This model's maximum context length is 8191 tokens, however you requested 10346 tokens.",
  'prompt is too long: 213462 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000',
  'Your input exceeds the context window of this model. Please adjust your input and try again.',
  'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  'Please reduce the length of the messages or completion.',
  'the request exceeds the available context size. try increasing the context size',
  'tokens to keep from the initial prompt is greater than the context length',
  'Invalid request: Your request exceeded model token limit: 8192',
  'Range of input length should be [1, 30720]',
  'Input is too long for requested model.',
  'invalid params, context window exceeds limit',
  'Prompt 超长，请缩短后重试',
  '输入超过最大长度限制',
  'Prompt exceeds max length',
];
const notTooLong = [
  'max_tokens is too large: 99999. This model supports at most 16384 completion tokens.',
  'temperature must be at most 2',
  "Invalid 'messages[3].content': empty text",
];

describe('a conversation that is too long', () => {
  test.each(tooLong)('is recognised in "%s"', (message) => {
    expect(classify({ status: 400, code: '', message })).toBe('context-too-long');
  });
  test.each(notTooLong)('is not seen in "%s"', (message) => {
    expect(classify({ status: 400, code: '', message })).toBe('bad-request');
  });
  test('is recognised by its code alone', () => {
    expect(classify({ status: 400, code: 'context_length_exceeded', message: '' })).toBe('context-too-long');
  });
  test('is not confused with a limit of tokens per minute', () => {
    const message = 'Rate limit reached on tokens per min (TPM): token limit 30000';
    expect(classify({ status: 429, code: 'rate_limit_exceeded', message })).toBe('rate-limited');
    const larger = 'Request too large for the model on tokens per min (TPM): Limit 30000, Requested 40000.';
    expect(classify({ status: 429, code: 'rate_limit_exceeded', message: larger })).toBe('context-too-long');
  });
});

test.each([
  ['invalid_api_key', 'Incorrect API key provided', 'auth'],
  ['rate_limit_error', 'slow down', 'rate-limited'],
  ['overloaded_error', 'Overloaded', 'overloaded'],
  ['insufficient_quota', 'no more', 'quota'],
  ['', '账户余额不足', 'quota'],
  ['', '输入内容包含敏感信息', 'content-refused'],
  ['content_filter', 'filtered', 'content-refused'],
  ['model_not_found', 'The model `x` does not exist', 'not-found'],
  ['', 'something else', 'bad-request'],
] as const)('an error without a status is read by its words: %s %s', (code, message, kind) => {
  expect(classify({ code, message })).toBe(kind);
});
