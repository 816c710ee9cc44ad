/** The figures behind `GET /metrics`: an observer that counts, and a text that adds what the process itself knows. */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { AgentEvent, Usage } from '../protocol/events.js';
import type { DaemonStatus } from '../protocol/status.js';
import { createCounter, createHistogram, gaugeLines } from './exposition.js';
import type { Observer } from './observer.js';

export interface Metrics extends Observer {
  /** Prometheus text. The delay of the event loop is measured from the first call on: watching it costs a little. */
  text(status: DaemonStatus): Promise<string>;
}

/** Runs whose end never came (a killed session) must not pile up. */
const maxOpenRuns = 10_000;

export function createMetrics(): Metrics {
  const turns = createCounter('picobot_turns_total', 'Finished turns by stop reason.');
  const durations = createHistogram(
    'picobot_turn_duration_seconds',
    'From the start of a turn to its end.',
    [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600],
  );
  const toolCalls = createCounter('picobot_tool_calls_total', 'Finished tool calls by tool and state.');
  const modelCalls = createCounter('picobot_model_calls_total', 'Finished model calls by model.');
  const tokens = createCounter('picobot_model_tokens_total', 'Tokens as the provider counted them, by model and kind.');
  const retries = createCounter('picobot_model_retries_total', 'Model calls tried again, by model.');
  const fallbacks = createCounter(
    'picobot_model_fallbacks_total',
    'Changes to a fallback model, by the model that failed.',
  );

  const startedAtMs = new Map<string, number>();
  let delay: IntervalHistogram | undefined;

  const countTokens = (model: string, usage: Usage) => {
    const kinds = {
      input: usage.inputTokens,
      output: usage.outputTokens,
      cached_input: usage.cachedInputTokens,
      reasoning: usage.reasoningTokens,
    };
    for (const [kind, count] of Object.entries(kinds)) if (count !== undefined) tokens.add({ model, kind }, count);
  };

  return {
    onEvent(event: AgentEvent) {
      switch (event.type) {
        case 'run-start':
          if (startedAtMs.size >= maxOpenRuns) startedAtMs.delete(startedAtMs.keys().next().value!);
          startedAtMs.set(event.runId, event.at);
          break;
        case 'run-end': {
          turns.add({ stop_reason: event.stopReason });
          const started = startedAtMs.get(event.runId);
          startedAtMs.delete(event.runId);
          if (started !== undefined) durations.observe({}, (event.at - started) / 1000);
          break;
        }
        case 'tool-result':
          toolCalls.add({ tool: event.name, state: event.state });
          break;
        case 'usage':
          modelCalls.add({ model: event.model });
          countTokens(event.model, event.usage);
          break;
        case 'model-retry':
          retries.add({ model: event.model });
          break;
        case 'model-fallback':
          fallbacks.add({ model: event.from });
          break;
      }
    },
    async text(status) {
      if (!delay) {
        delay = monitorEventLoopDelay({ resolution: 20 });
        delay.enable();
      }
      const counted = [turns, durations, toolCalls, modelCalls, tokens, retries, fallbacks];
      const lines = [...counted.flatMap((metric) => metric.lines()), ...statusLines(status), ...processLines(delay)];
      delay.reset();
      return `${lines.join('\n')}\n`;
    },
  };
}

function statusLines({ version, state, startedAt, channels, queues }: DaemonStatus): string[] {
  return [
    ...gaugeLines('picobot_info', 'Always 1; the version is in the label.', [[{ version }, 1]]),
    ...gaugeLines('picobot_ready', '1 while new messages are taken.', [[{}, state === 'ready' ? 1 : 0]]),
    ...gaugeLines('picobot_queue_messages', 'Messages that wait or are in work.', [
      [{ queue: 'inbound' }, queues.inboundWaiting],
      [{ queue: 'running' }, queues.running],
      [{ queue: 'outbound' }, queues.outboundWaiting],
    ]),
    ...gaugeLines(
      'picobot_channel_up',
      '1 while a channel is running.',
      channels.map((channel) => [{ channel: channel.id }, channel.state === 'running' ? 1 : 0]),
    ),
    ...gaugeLines('process_start_time_seconds', 'Start of the daemon, Unix time.', [[{}, startedAt / 1000]]),
  ];
}

function processLines(delay: IntervalHistogram): string[] {
  const memory = process.memoryUsage();
  const cpu = process.cpuUsage();
  // Before the first measurement the histogram says NaN and impossible minima.
  const seconds = (nanoseconds: number) => (delay.count > 0 ? nanoseconds / 1e9 : 0);
  return [
    '# HELP process_cpu_seconds_total Processor time, user and system.',
    '# TYPE process_cpu_seconds_total counter',
    `process_cpu_seconds_total ${(cpu.user + cpu.system) / 1e6}`,
    ...gaugeLines('process_resident_memory_bytes', 'Resident memory.', [[{}, memory.rss]]),
    ...gaugeLines('nodejs_heap_used_bytes', 'Used heap.', [[{}, memory.heapUsed]]),
    ...gaugeLines('nodejs_external_memory_bytes', 'Memory outside the heap.', [[{}, memory.external]]),
    ...gaugeLines('nodejs_eventloop_delay_seconds', 'Delay of the event loop since the last scrape.', [
      [{ quantile: '0.5' }, seconds(delay.percentile(50))],
      [{ quantile: '0.99' }, seconds(delay.percentile(99))],
      [{ quantile: '1' }, seconds(delay.max)],
    ]),
  ];
}
