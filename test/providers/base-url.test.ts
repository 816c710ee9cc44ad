import { expect, test } from 'vitest';
import { readBaseUrl } from '../../src/providers/base-url.js';

test.each([
  ['openai', 'https://api.example.org/v1', 'https://api.example.org/v1'],
  ['openai', 'https://api.example.org/v1/', 'https://api.example.org/v1'],
  ['openai', 'https://api.example.org/v1/chat/completions', 'https://api.example.org/v1'],
  ['openai', 'https://api.example.org//v1//', 'https://api.example.org/v1'],
  ['openai', 'http://127.0.0.1:4010', 'http://127.0.0.1:4010/v1'],
  ['openai', 'http://127.0.0.1:4010/', 'http://127.0.0.1:4010/v1'],
  ['openai', 'https://example.org/api/paas/v4', 'https://example.org/api/paas/v4'],
  ['anthropic', 'https://api.anthropic.com', 'https://api.anthropic.com/v1'],
  ['anthropic', 'https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1'],
  ['anthropic', 'https://api.anthropic.com/v1/messages', 'https://api.anthropic.com/v1'],
  ['anthropic', 'https://api.example.org/anthropic', 'https://api.example.org/anthropic/v1'],
  ['responses', 'https://api.example.org/v1/responses', 'https://api.example.org/v1'],
] as const)('%s: %s is read as %s', (family, text, base) => {
  expect(readBaseUrl(text, family)).toMatchObject({ base, query: '' });
});

test('a query is kept for behind the endpoint, and the host is named without credentials', () => {
  expect(readBaseUrl('https://user:password@example.org:8443/v1?api-version=1', 'openai')).toEqual({
    base: 'https://user:password@example.org:8443/v1',
    query: '?api-version=1',
    host: 'example.org:8443',
  });
});
