import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskSecrets } from '../../src/config/mask.js';
import { createRedactor, mask } from '../../src/config/redact.js';
import { configSchema } from '../../src/config/schema.js';

test('secrets are masked wherever the schema says so, empty ones and references stay, all else too', () => {
  const masked = maskSecrets({
    platforms: {
      'z.ai': { apiKey: 'k', headers: { 'X-Key': 'h' } },
      y: { apiKey: '${Y_KEY}' },
      z: { apiKey: '${Z:-k}' },
    },
    channels: { slack: { botToken: '', accounts: { two: { signingSecret: 's', owners: ['U1'] } } } },
    gateway: { token: 't', host: 'example.org' },
  });
  expect(masked).toEqual({
    platforms: { 'z.ai': { apiKey: mask, headers: { 'X-Key': mask } }, y: { apiKey: '${Y_KEY}' }, z: { apiKey: mask } },
    channels: { slack: { botToken: '', accounts: { two: { signingSecret: mask, owners: ['U1'] } } } },
    gateway: { token: mask, host: 'example.org' },
  });
});

test('where the schema knows nothing, telling names, env and headers are masked', () => {
  expect(
    maskSecrets({
      mcp: {
        servers: {
          a: {
            command: 'run',
            args: ['x'],
            env: { DATABASE_URL: 'u' },
            headers: { A: 'b' },
            oauth: { clientSecret: 's' },
          },
        },
      },
      unknown: { password: 'p', name: 'n' },
    }),
  ).toEqual({
    mcp: {
      servers: {
        a: {
          command: 'run',
          args: ['x'],
          env: { DATABASE_URL: mask },
          headers: { A: mask },
          oauth: { clientSecret: mask },
        },
      },
    },
    unknown: { password: mask, name: 'n' },
  });
});

test('the configuration itself is not changed', () => {
  const config = Object.freeze({ gateway: Object.freeze({ token: 'secret' }) });
  maskSecrets(config);
  expect(config.gateway.token).toBe('secret');
});

test('a canary in any secret place of any configuration never shows', () => {
  const account = (key: string) => fc.record({ [key]: fc.constant('canary') });
  const channels = fc.record({
    telegram: fc.record({ token: fc.constant('canary'), accounts: fc.dictionary(fc.string(), account('token')) }),
    slack: fc.record({ accounts: fc.dictionary(fc.string(), account('appToken')) }),
    feishu: account('appSecret'),
  });
  const platforms = fc.dictionary(
    fc.stringMatching(/^[a-z0-9][a-z0-9._-]*$/).filter((id) => id !== '__proto__'),
    fc.record({ apiKey: fc.constant('canary'), headers: fc.dictionary(fc.string(), fc.constant('canary')) }),
  );
  fc.assert(
    fc.property(fc.record({ channels, platforms, gateway: account('token') }), (config) => {
      const masked = maskSecrets(config);
      expect(JSON.stringify(masked)).not.toContain('canary');
      expect(configSchema.safeParse(masked).success).toBe(configSchema.safeParse(config).success);
    }),
    { numRuns: 50 },
  );
});

test('a redactor takes the longest secret first and leaves short ordinary words alone', () => {
  const redact = createRedactor(['secret-1', 'secret-1-and-more', 'none', '']);
  expect(redact('none: secret-1-and-more, secret-1')).toBe(`none: ${mask}, ${mask}`);
  expect(createRedactor([])('text')).toBe('text');
});

test('a redactor finds a secret in a URL and behind its scheme', () => {
  const redact = createRedactor(['a b&c=d/e+f']);
  expect(createRedactor(['Bearer abcdefgh'])('only abcdefgh')).toBe(`only ${mask}`);
  for (const form of [encodeURIComponent('a b&c=d/e+f'), new URLSearchParams({ q: 'a b&c=d/e+f' }).toString()]) {
    expect(redact(`https://x.test/?${form}`)).toContain(mask);
  }
});

test('whatever the secrets are, none is left in the text', () => {
  const secret = fc.string({ unit: 'binary', minLength: 8 });
  fc.assert(
    fc.property(fc.array(secret, { minLength: 1 }), fc.string(), (secrets, glue) => {
      const text = createRedactor(secrets)(secrets.join(glue));
      for (const one of secrets) expect(text.split(mask).some((rest) => rest.includes(one))).toBe(false);
    }),
  );
});
