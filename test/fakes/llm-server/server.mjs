/**
 * A fake LLM server on loopback that speaks chat completions, messages and responses, strictly and scriptably.
 * Import `startLlmServer`, or run it: `node server.mjs [--port N] [--bench] [--lenient] [--with-parent]`
 * prints `{"url","baseUrl","pid"}` and takes orders at `POST /_control/script`, `POST /_control/reset`, `GET /_control/requests`.
 */
import http from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { families, familyOf } from './families.mjs';
import { writeJson, writeStream } from './write-answer.mjs';

const maxKept = { test: 5000, bench: 500 };

export async function startLlmServer(options = {}) {
  const { port = 0, isBench = false, models = ['fake-model'], key } = options;
  const requests = [];
  const queue = [];
  const settings = {
    isStrict: options.isStrict ?? !isBench,
    quirks: options.quirks ?? {},
    rules: options.rules ?? {},
    respond: options.respond,
  };
  let counter = 0;

  async function answer(request, response, chunks) {
    const { pathname } = new URL(request.url, 'http://fake');
    if (pathname.startsWith('/_control/')) return control(pathname, chunks, response);
    if (request.method === 'GET' && pathname.endsWith('/models')) {
      return writeJson(response, { object: 'list', data: models.map((id) => ({ id, object: 'model' })) }, {}, {});
    }
    const name = request.method === 'POST' ? familyOf(pathname) : undefined;
    if (!name)
      return writeJson(
        response,
        families.openai.error({ message: `Unknown request URL: ${request.method} ${pathname}` }),
        { status: 404 },
        {},
      );
    const record = keep(request, name, pathname, chunks, response);
    if (isBench) return answerFast(name, chunks, response);
    const refusal = settings.isStrict ? refusalOf(record, request) : undefined;
    if (refusal) {
      record.refusal = refusal.message;
      return writeJson(response, families[name].error(refusal), { status: refusal.status }, {});
    }
    const next = queue.shift() ?? settings.respond ?? {};
    const step = (typeof next === 'function' ? await next(record) : next) ?? {};
    return play(step, record, response);
  }

  function keep(request, family, path, chunks, response) {
    const raw = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
    const record = {
      family,
      path,
      headers: request.headers,
      get body() {
        return raw.toString();
      },
      get json() {
        return JSON.parse(raw.toString());
      },
      at: Date.now(),
      isAborted: false,
      closed: new Promise((resolve) => {
        response.once('close', () => {
          record.isAborted = !response.writableFinished;
          resolve(record.isAborted);
        });
      }),
    };
    requests.push(record);
    if (requests.length > maxKept[isBench ? 'bench' : 'test']) requests.shift();
    return record;
  }

  function refusalOf(record, request) {
    const given = request.headers['x-api-key'] ?? request.headers.authorization?.replace(/^Bearer /, '');
    if (key !== undefined && given !== key) {
      return {
        status: 401,
        message: `Incorrect API key provided: ${given}.`,
        type: 'authentication_error',
        code: 'invalid_api_key',
      };
    }
    let message;
    try {
      message = families[record.family].validate(record.json, settings.rules);
    } catch (error) {
      message = `We could not parse the JSON body of your request: ${error.message}`;
    }
    if (!message && record.family === 'anthropic' && !request.headers['anthropic-version'])
      message = 'anthropic-version: header is required';
    return message && { status: 400, message };
  }

  async function play(step, record, response) {
    const quirks = { ...settings.quirks, ...step.quirks };
    const family = families[record.family];
    if (step.until) await step.until;
    if (step.delayMs) await wait(step.delayMs);
    if (response.destroyed || quirks.stall === 'headers') return undefined;
    if (quirks.close === 'headers') return response.socket?.destroy();
    if (step.body !== undefined) {
      return writeJson(response, step.body, step, { ...quirks, contentType: quirks.contentType ?? 'text/html' });
    }
    if (quirks.baseResp !== undefined) {
      const body = { base_resp: { status_code: quirks.baseResp, status_msg: step.error?.message ?? 'login fail' } };
      const isFrame = quirks.errorFrame && record.json.stream;
      return isFrame
        ? writeStream(response, [{ data: JSON.stringify(body) }], step, quirks)
        : writeJson(response, body, step, quirks);
    }
    if (step.error && !quirks.errorFrame) {
      const status = quirks.errorBody ? 200 : (step.status ?? 500);
      return writeJson(response, family.error(step.error), { ...step, status }, quirks);
    }
    const context = {
      id: `fake_${++counter}`,
      model: record.json.model,
      created: Math.floor(record.at / 1000),
      quirks,
      usage: step.usage === null ? undefined : (step.usage ?? { input: Math.ceil(record.body.length / 4), output: 5 }),
    };
    const filled = fill(step, record, counter);
    const isStream = record.json.stream === true && !quirks.jsonInsteadOfStream;
    if (!isStream) return writeJson(response, family.answer(filled, context), step, quirks);
    const frames = family.frames(filled, context);
    if (!step.error) return writeStream(response, frames, step, quirks);
    const failing = frames.slice(0, quirks.errorFrame === 'first' ? 0 : Math.ceil(frames.length / 2));
    return writeStream(
      response,
      [...failing, family.errorFrame(step.error), ...(record.family === 'openai' ? [{ data: '[DONE]' }] : [])],
      step,
      quirks,
    );
  }

  /** The text by default, and an id for every call. */
  function fill(step, record, number) {
    const isSilent = step.text === undefined && step.calls === undefined && step.reasoning === undefined;
    const text = isSilent ? `ok: ${families[record.family].lastUserText(record.json)}` : step.text;
    const calls = step.calls?.map((call, index) => ({ id: `call_${number}_${index + 1}`, ...call }));
    return { ...step, ...(text !== undefined && { text }), ...(calls && { calls }) };
  }

  /** Answers without reading the request: what is measured is the client. */
  const prepared = new Map();
  function answerFast(name, chunks, response) {
    const isStream = chunks.some((chunk) => chunk.includes('"stream":true'));
    const id = `${name} ${isStream}`;
    let text = prepared.get(id);
    if (!text) {
      const context = { id: 'fake_1', model: 'fake-model', created: 1, quirks: {}, usage: { input: 100, output: 2 } };
      const family = families[name];
      text = isStream
        ? family
            .frames({ text: ['ok', ' then'] }, context)
            .map(({ event, data }) => `${event ? `event: ${event}\n` : ''}data: ${data}\n\n`)
            .join('')
        : JSON.stringify(family.answer({ text: 'ok then' }, context));
      prepared.set(id, text);
    }
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    response.end(text);
  }

  function control(pathname, chunks, response) {
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {};
    if (pathname === '/_control/script') queue.push(...body.steps);
    else if (pathname === '/_control/reset') reset(body);
    const kept = requests.map(({ family, path, body: text, at, isAborted, refusal }) => ({
      family,
      path,
      body: text,
      at,
      isAborted,
      refusal,
    }));
    return writeJson(response, pathname === '/_control/requests' ? { items: kept } : { ok: true }, {}, {});
  }

  function reset(change = {}) {
    requests.length = 0;
    queue.length = 0;
    Object.assign(settings, change);
  }

  const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      Promise.resolve(answer(request, response, chunks)).catch((error) => {
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
        response.end(`fake server: ${error.stack}`);
      });
    });
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${server.address().port}`;
  return {
    url,
    baseUrl: `${url}/v1`,
    requests,
    script: (...steps) => void queue.push(...steps),
    reset,
    /** Steps that nobody asked for yet. */
    get waiting() {
      return queue.length;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function main() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '0' },
      bench: { type: 'boolean', default: false },
      lenient: { type: 'boolean', default: false },
      'with-parent': { type: 'boolean', default: false },
    },
  });
  const server = await startLlmServer({
    port: Number(values.port),
    isBench: values.bench,
    ...(values.lenient && { isStrict: false }),
  });
  const stop = () => void server.close().then(() => process.exit(0));
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // The parent's end of the pipe closes when it dies, however it dies.
  if (values['with-parent']) process.stdin.on('end', stop).resume();
  process.stdout.write(`${JSON.stringify({ url: server.url, baseUrl: server.baseUrl, pid: process.pid })}\n`);
}

if (import.meta.filename === process.argv[1]) await main();
