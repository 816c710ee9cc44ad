import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findSecret } from '../../src/memory/secrets.js';

test.each([
  ['sk-proj-abcDEF1234567890abcdef', 'api key'],
  ['key: sk-ant-api03-AbCd1234efgh5678', 'api key'],
  ['AKIAIOSFODNN7EXAMPLE', 'api key'],
  ['AIzaSyA1234567890abcdefghijklmnopqrstuv', 'api key'],
  ['ghp_abcdefghijklmnopqrstuvwxyz0123456789', 'token'],
  ['github_pat_11ABCDEFG0abcdefghij_klmnop', 'token'],
  ['xoxb-123456789012-abcdefghijkl', 'token'],
  ['7123456789:AAFabcdefghijklmnopqrstuvwxyz0123456', 'token'],
  ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N', 'token'],
  ['Authorization: Bearer abcdef1234567890abcdef', 'token'],
  ['-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE', 'private key'],
  ['postgres://admin:s3cret@db.internal/app', 'password'],
  ['the password is hunter22', 'password'],
  ['Password: correct-horse', 'password'],
  ['pwd=Tr0ub4dor', 'password'],
  ['my PIN is 4711', 'password'],
  ['the password for the router is "admin123"', 'password'],
  ['WiFi 密码是 niangao2024', 'password'],
  ['密码：abc12345', 'password'],
  ['邮箱的密码为Qwer!234', 'password'],
  ['ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２２', 'password'],
  ['pass\u200bword: hunter22', 'password'],
  ['visa 4111 1111 1111 1111', 'card number'],
  ['卡号5555-5555-5555-4444', 'card number'],
  ['378282246310005', 'card number'],
  ['银联 6212345678901232', 'card number'],
])('%s is a secret', (text, kind) => {
  expect(findSecret(text)).toBe(kind);
});

test.each([
  'the password is stored in the safe',
  'Password: never written down',
  'password is required for the VPN',
  'forgot the password again',
  '我忘了密码，请帮我重置',
  '密码放在保险柜里',
  '密码是妻子的生日加门牌号',
  'phone +86 138 0013 8000',
  'ticket SAP-1293164',
  'tracking number SF1390022817345',
  'the order number is 4111111111111112',
  'id 3f1c2b9e-8a77-4c11-9a1b-0123456789ab',
  'commit 9f3c2ab0d1e2f3a4b5c6d7e8f90a1b2c3d4e5f60',
  'sk-learn-compatible-estimators are nice',
  'https://example.org/a:b@c',
  'meeting at 2026-11-18 10:00 - 11:30',
])('%s is not', (text) => {
  expect(findSecret(text)).toBeUndefined();
});

test('any text is looked through without hanging', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), (text) => void findSecret(text)),
    { numRuns: 300 },
  );
  const startedAt = performance.now();
  for (const text of ['password for ', '密码', '1 ', '4', 'eyJ', 'sk-', 'a:', '-----BEGIN '])
    findSecret(text.repeat(8000 / text.length));
  expect(performance.now() - startedAt).toBeLessThan(1000);
});
