/**
 * Counters and histograms in Prometheus' text format. Written by hand because the usual client library costs
 * 50 ms at every start, of which a daemon that nobody scrapes has no use, and this is all we need of it.
 */

export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(labels: Labels, amount?: number): void;
  lines(): string[];
}

export interface Histogram {
  observe(labels: Labels, value: number): void;
  lines(): string[];
}

/** Tool and model names come from outside: what is beyond this many is counted together as "other". */
const maxSeries = 200;

export function createCounter(name: string, help: string): Counter {
  const series = seriesMap(() => ({ value: 0 }));
  return {
    add: (labels, amount = 1) => {
      series.of(labels).value += amount;
    },
    lines: () => [
      ...head(name, help, 'counter'),
      ...series.all().map(([labels, { value }]) => sample(name, labels, value)),
    ],
  };
}

/** `bounds` are upper, inclusive, rising. */
export function createHistogram(name: string, help: string, bounds: readonly number[]): Histogram {
  const series = seriesMap(() => ({ counts: bounds.map(() => 0), count: 0, sum: 0 }));
  return {
    observe(labels, value) {
      const state = series.of(labels);
      state.count++;
      state.sum += value;
      // Buckets are cumulative: a value counts in every bucket that holds it.
      bounds.forEach((bound, index) => {
        if (value <= bound) state.counts[index]!++;
      });
    },
    lines: () => [
      ...head(name, help, 'histogram'),
      ...series
        .all()
        .flatMap(([labels, { counts, count, sum }]) => [
          ...bounds.map((bound, index) => sample(`${name}_bucket`, { ...labels, le: String(bound) }, counts[index]!)),
          sample(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
          sample(`${name}_sum`, labels, sum),
          sample(`${name}_count`, labels, count),
        ]),
    ],
  };
}

export function gaugeLines(name: string, help: string, samples: readonly [Labels, number][]): string[] {
  return [...head(name, help, 'gauge'), ...samples.map(([labels, value]) => sample(name, labels, value))];
}

function seriesMap<State>(create: () => State) {
  const states = new Map<string, { labels: Labels; state: State }>();
  const find = (labels: Labels): State => {
    const known = states.get(keyOf(labels));
    if (known) return known.state;
    const isFull = states.size >= maxSeries;
    const counted = isFull ? Object.fromEntries(Object.keys(labels).map((label) => [label, 'other'])) : labels;
    const entry = states.get(keyOf(counted)) ?? { labels: counted, state: create() };
    states.set(keyOf(counted), entry);
    return entry.state;
  };
  return {
    of: find,
    all: (): [Labels, State][] => [...states.values()].map(({ labels, state }) => [labels, state]),
  };
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.values(labels));
}

function head(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
