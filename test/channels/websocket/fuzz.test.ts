import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../../gateway/server.js';
import { type Client, connect, text, textOf } from './ws-client.js';

let server: TestServer;
let bystander: Client;
beforeAll(async () => {
  server = await startServer({ config: { maxTextBytes: 4096 } });
  bystander = await connect(server);
});
afterAll(async () => {
  bystander.close();
  await server.close();
});

const type = fc.oneof(
  fc.constantFrom('text', 'stop', 'setting', 'system', 'subscribe', 'unsubscribe', 'chat', 'reply', '__proto__', 'end'),
  fc.string(),
);
const sessionId = fc.oneof(
  fc.constantFrom('default', 'websocket:web:default', 'a:b:c', ':::', 'x%', 'http:default:default'),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
);
const content = fc.oneof(
  fc.record({ text: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()) }),
  fc.record({
    act: fc.oneof(fc.constantFrom('getConfig', 'getModels', 'saveConfig'), fc.string()),
    data: fc.jsonValue(),
  }),
  fc.jsonValue(),
);
const frame = fc
  .record(
    { type, sessionId, messageId: fc.oneof(fc.string(), fc.jsonValue()), content, lastEventId: fc.jsonValue() },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value));
/** Valid JSON with some characters changed, cut or repeated. */
const damaged = fc.tuple(frame, fc.nat(), fc.string({ maxLength: 3 }), fc.boolean()).map(([json, at, noise, cuts]) => {
  const place = json.length === 0 ? 0 : at % json.length;
  return json.slice(0, place) + noise + (cuts ? '' : json.slice(place + noise.length));
});
const textData = fc.oneof(
  { weight: 5, arbitrary: frame },
  { weight: 3, arbitrary: damaged },
  { weight: 1, arbitrary: fc.array(fc.oneof(frame, damaged), { maxLength: 5 }).map((lines) => lines.join('\n')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
);
const message = fc.oneof(
  { weight: 12, arbitrary: textData.map((data) => ({ data: Buffer.from(data), binary: false })) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((data) => ({ data: Buffer.from(data), binary: true })) },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 60 }).map((data) => ({ data: Buffer.from(data), binary: false })),
  },
);

test('whatever one client sends, it gets clear answers or a close code, and others notice nothing', async () => {
  let rounds = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 20 }), async (messages) => {
      rounds += 1;
      const client = await connect(server);
      for (const { data, binary } of messages) client.sendRaw(data, { binary });
      const survived = await Promise.race([client.sync().then(() => true), client.closed.then(() => false)]).catch(
        () => false,
      );
      if (!survived) expect([1007, 1009]).toContain(await client.closed);
      for (const answer of client.frames) {
        if (answer.type !== 'error') continue;
        expect(answer.content.code).toMatch(/^[a-z0-9_]+$/);
        expect(answer.content.code).not.toBe('internal_error');
      }
      client.close();
      bystander.send(text(`b${rounds}`, 'still there?'));
      await bystander.end(`b${rounds}`);
      expect(textOf(bystander.frames, `b${rounds}`)).toBe('echo: still there?');
    }),
    { numRuns: 150, seed: 5 },
  );
  expect(server.logged.filter((line) => line.includes('"error"'))).toEqual([]);
});
