/**
 * The spine's figures: start, memory, overhead per turn, throughput, size and stability of requests.
 * Against a fake model that answers at once; its own time is measured in the same run and taken off.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeHome, percentile, post, round, startDaemon, startFakeModel } from './daemon-process.mjs';

const model = await startFakeModel();
const rows = [];
const add = (figure, value, goal) => rows.push({ figure, value, goal });
const withDaemon = async (work, config) => {
  const home = makeHome(model.url, config);
  const daemon = await startDaemon(home.home);
  try {
    return await work(daemon);
  } finally {
    await daemon.stop();
    home.remove();
  }
};

try {
  const starts = [];
  for (let round = 0; round < 7; round += 1) starts.push(await withDaemon(async (daemon) => daemon.startMs));
  add('start to ready, ms (median of 7, fresh home)', round(percentile(starts, 0.5), 0), '<= 300');

  await withDaemon(async (daemon) => {
    await sleep(30_000);
    add('resident memory, idle 30 s after start, MB', daemon.residentMb(), '<= 90');
  });

  for (const durability of ['process', 'power']) {
    await withDaemon(
      async (daemon) => {
        const label = durability === 'process' ? '' : ' (storage.durability: power)';
        const modelMs = await modelTime();
        const first = await oneDialog(daemon, 20);
        const processorBefore = daemon.processorMs();
        const times = await oneDialog(daemon, 100, first.sessionId);
        const overhead = times.turns.map((ms) => ms - modelMs);
        add(`overhead per turn p50 / p95, ms${label}`, pair(overhead), '<= 3 / 8');
        if (durability === 'power') return;
        add('the fake model itself, ms', round(modelMs, 2), '');
        add('processor time per turn, ms', round((daemon.processorMs() - processorBefore) / 100, 2), '<= 4');
        const long = await oneDialog(daemon, 210);
        const early = percentile(long.turns.slice(1, 11), 0.5) - modelMs;
        const late = percentile(long.turns.slice(195, 210), 0.5) - modelMs;
        add('overhead of turn 200 against turns 1-10', `${round(late / early, 2)} x`, '<= 1.3 x');
      },
      { storage: { durability } },
    );
  }

  await withDaemon(async (daemon) => {
    await manyDialogs(daemon, 20, 2);
    const startedAt = performance.now();
    await manyDialogs(daemon, 20, 10);
    add('20 dialogs x 10 turns at once, turns/s', round(200 / ((performance.now() - startedAt) / 1000), 0), '>= 400');
  });

  await withDaemon(async (daemon) => {
    const before = daemon.residentMb();
    await manyDialogs(daemon, 1000, 1, 20);
    add(
      'memory after 1,000 dialogs, MB (above idle)',
      `${daemon.residentMb()} (${round(daemon.residentMb() - before)})`,
      '',
    );
  });

  await withDaemon(async (daemon) => {
    await fetch(`${model.url}/_control/reset`, { method: 'POST', body: '{}' });
    await oneDialog(daemon, 30);
    const { items } = await (await fetch(`${model.url}/_control/requests`)).json();
    const bodies = items.map((item) => item.body);
    add('first request, bytes (about tokens)', `${bodies[0].length} (${Math.round(bodies[0].length / 4)})`, '<= 6144');
    add('prefix identical to the request before', `${round(100 * prefixShare(bodies), 1)} %`, '100 %');
  });

  add('production install, MB', installSize(), '<= 200');
} finally {
  await model.stop();
}

const width = Math.max(...rows.map((row) => row.figure.length));
for (const row of rows) console.error(`${row.figure.padEnd(width)}  ${String(row.value).padStart(14)}  ${row.goal}`);
console.log(JSON.stringify(rows));

async function modelTime() {
  const body = { model: 'echo', stream: true, messages: [{ role: 'user', content: 'hi' }] };
  const times = [];
  for (let turn = 0; turn < 120; turn += 1) {
    const startedAt = performance.now();
    const response = await fetch(`${model.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer none' },
      body: JSON.stringify(body),
    });
    await response.text();
    times.push(performance.now() - startedAt);
  }
  return percentile(times.slice(20), 0.5);
}

async function oneDialog(daemon, turns, sessionId) {
  const id = sessionId ?? (await post(daemon.url, '/api/sessions', {})).id;
  const times = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const startedAt = performance.now();
    await post(daemon.url, '/api/chat', { sessionId: id, text: `question number ${turn}` });
    times.push(performance.now() - startedAt);
  }
  return { turns: times, sessionId: id };
}

async function manyDialogs(daemon, dialogs, turns, atOnce = dialogs) {
  const waiting = Array.from({ length: dialogs }, (_, index) => index);
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await oneDialog(daemon, turns);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Of each request but the first: how much of the request before (less its closing brackets and what follows the messages) it starts with. */
function prefixShare(bodies) {
  const shares = bodies.slice(1).map((body, index) => {
    const previous = messagesOf(bodies[index]);
    const text = messagesOf(body);
    let same = 0;
    while (same < previous.length && previous[same] === text[same]) same += 1;
    return same / previous.length;
  });
  return Math.min(...shares);
}

function messagesOf(body) {
  const { messages, ...rest } = JSON.parse(body);
  return JSON.stringify(rest) + JSON.stringify(messages).slice(0, -1);
}

function pair(values) {
  return `${round(percentile(values, 0.5), 2)} / ${round(percentile(values, 0.95), 2)}`;
}

function installSize() {
  const script = `d=$(mktemp -d) && cp package.json package-lock.json "$d" && cd "$d" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund >/dev/null 2>&1 && du -sm node_modules | cut -f1; rm -rf "$d"`;
  return Number(execFileSync('bash', ['-c', script], { cwd: new URL('..', import.meta.url), encoding: 'utf8' }).trim());
}
