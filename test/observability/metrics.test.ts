import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createCounter, createHistogram } from '../../src/observability/exposition.js';
import { createMetrics } from '../../src/observability/metrics.js';
import type { AgentEvent, EventBody } from '../../src/protocol/events.js';
import type { DaemonStatus } from '../../src/protocol/status.js';

const status: DaemonStatus = {
  version: '1.2.3',
  state: 'ready',
  startedAt: 1_700_000_000_000,
  model: 'demo/demo',
  channels: [
    { id: 'http', state: 'running' },
    { id: 'telegram', state: 'failed' },
  ],
  queues: { inboundWaiting: 3, running: 2, outboundWaiting: 1 },
};

let nextId = 0;
const event = (body: EventBody, runId = 'r1', at = 0) =>
  ({ ...body, id: ++nextId, sessionId: 's', runId, turn: 1, at }) as AgentEvent;
const end = (stopReason: 'end_turn' | 'cancelled') => ({ type: 'run-end', stopReason, text: '', usage: {} }) as const;

test('turns, durations, tool calls and tokens are counted from the events', async () => {
  const metrics = createMetrics();
  const events = [
    event({ type: 'run-start', model: 'a/b', messageIds: ['m'], attempt: 1 }, 'r1', 1000),
    event({
      type: 'tool-result',
      step: 1,
      callId: 'c',
      name: 'calculator',
      state: 'failed',
      output: '',
      durationMs: 3,
    }),
    event({ type: 'usage', step: 1, model: 'a/b', usage: { inputTokens: 10, outputTokens: 0 } }),
    event({ type: 'usage', step: 2, model: 'a/b', usage: { inputTokens: 5, reasoningTokens: 2 } }),
    event({ type: 'model-retry', model: 'a/b', attempt: 1, waitMs: 5, reason: 'x' }),
    event({ type: 'model-fallback', from: 'a/b', to: 'c/d', reason: 'x' }),
    event(end('end_turn'), 'r1', 1300),
    event(end('cancelled'), 'never-started', 9000),
  ];
  for (const one of events) metrics.onEvent(one);
  const lines = (await metrics.text(status)).split('\n');
  for (const line of [
    'picobot_turns_total{stop_reason="end_turn"} 1',
    'picobot_turns_total{stop_reason="cancelled"} 1',
    'picobot_turn_duration_seconds_bucket{le="0.1"} 0',
    'picobot_turn_duration_seconds_bucket{le="0.5"} 1',
    'picobot_turn_duration_seconds_sum 0.3',
    'picobot_turn_duration_seconds_count 1',
    'picobot_tool_calls_total{tool="calculator",state="failed"} 1',
    'picobot_model_calls_total{model="a/b"} 2',
    'picobot_model_tokens_total{model="a/b",kind="input"} 15',
    'picobot_model_tokens_total{model="a/b",kind="output"} 0',
    'picobot_model_tokens_total{model="a/b",kind="reasoning"} 2',
    'picobot_model_retries_total{model="a/b"} 1',
    'picobot_model_fallbacks_total{model="a/b"} 1',
    'picobot_info{version="1.2.3"} 1',
    'picobot_ready 1',
    'picobot_queue_messages{queue="inbound"} 3',
    'picobot_channel_up{channel="telegram"} 0',
    'process_start_time_seconds 1700000000',
  ]) {
    expect(lines).toContain(line);
  }
  expect(lines.some((line) => line.includes('cached_input'))).toBe(false);
});

test('the text is what Prometheus reads: help and type before samples, one number each, a newline at the end', async () => {
  const metrics = createMetrics();
  metrics.onEvent(
    event({ type: 'tool-result', step: 1, callId: 'c', name: 'a"b\\c\nd', state: 'done', output: '', durationMs: 3 }),
  );
  for (let scrape = 0; scrape < 2; scrape++) {
    const text = await metrics.text(status);
    expect(text.endsWith('\n')).toBe(true);
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(
        /^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="(\\.|[^"\\])*"(,\w+="(\\.|[^"\\])*")*\})? -?\d+(\.\d+)?(e[+-]\d+)?)$/,
      );
    }
    expect(text).toContain('picobot_tool_calls_total{tool="a\\"b\\\\c\\nd",state="done"} 1');
    expect(text).toMatch(/process_resident_memory_bytes [1-9]/);
    expect(text).toContain('nodejs_eventloop_delay_seconds{quantile="0.99"}');
  }
});

test('names from outside cannot grow the metrics without bound, and no count is lost', () => {
  const counter = createCounter('c', 'h');
  for (let index = 0; index < 1000; index++) counter.add({ tool: `t${index}`, state: 'done' });
  const samples = counter.lines().filter((line) => !line.startsWith('#'));
  expect(samples.length).toBeLessThanOrEqual(201);
  expect(samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).toBe(1000);
  expect(samples).toContain('c{tool="other",state="other"} 800');
});

test('label values that only look alike stay apart', () => {
  const counter = createCounter('c', 'h');
  counter.add({ a: 'x,y', b: 'z' });
  counter.add({ a: 'x', b: 'y,z' });
  expect(counter.lines().filter((line) => line.endsWith(' 1'))).toHaveLength(2);
});

test('buckets are cumulative and end with the count of all', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 20, noNaN: true })), (values) => {
      const histogram = createHistogram('h', 'h', [1, 5, 10]);
      for (const value of values) histogram.observe({}, value);
      const counts = histogram
        .lines()
        .filter((line) => line.startsWith('h_bucket'))
        .map((line) => Number(line.split(' ').at(-1)));
      if (values.length === 0) return;
      expect(counts).toEqual(
        [1, 5, 10, Number.POSITIVE_INFINITY].map((bound) => values.filter((value) => value <= bound).length),
      );
    }),
  );
});
