/** Starts the fresh build in a home of its own, holds one conversation with the demo model, keeps what V8 compiled. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const dist = resolve(process.argv[2]);
const home = mkdtempSync(join(tmpdir(), 'picobot-trial-'));
const token = 'token-of-the-trial-run';
for (const name of Object.keys(process.env)) if (/^PICOBOT_|_API_KEY$/.test(name)) delete process.env[name];
Object.assign(process.env, {
  PICOBOT_HOME: home,
  PICOBOT_HOST: '127.0.0.1',
  PICOBOT_PORT: '0',
  PICOBOT_TOKEN: token,
});

// Whatever hangs, the build does not wait for it.
setTimeout(() => process.exit(1), 60_000).unref();

try {
  const { main } = await import(pathToFileURL(join(dist, 'src', 'cli', 'main.js')).href);
  const { stopped, url } = await start(main);
  await talk(url);
  process.emit('SIGTERM');
  if ((await stopped) !== 0) throw new Error('the daemon did not stop in order');
  createRequire(import.meta.url)(join(dist, 'program', 'loader.cjs')).writeCaches();
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** Takes the address from the banner, and keeps all output to itself. */
async function start(main) {
  let said = '';
  const banner = new Promise((resolve) => {
    process.stdout.write = (text) => {
      said += text;
      const url = /http:\/\/[\d.:]+/.exec(said)?.[0];
      if (url) resolve(url);
      return true;
    };
  });
  process.stderr.write = () => true;
  const stopped = main(['start']);
  const failed = stopped.then((code) => {
    throw new Error(`the daemon ended with code ${code}`);
  });
  return { stopped, url: await Promise.race([banner, failed]) };
}

async function talk(url) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  for (const [path, body] of [
    ['/'],
    ['/readyz'],
    ['/api/status'],
    ['/api/chat', { text: 'Hello' }],
    ['/api/chat', { text: 'What is 17*23?' }],
  ]) {
    const response = await fetch(url + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
    await response.text();
    if (!response.ok) throw new Error(`${path} answered with ${response.status}`);
  }
}
