/** `picobot start`: the daemon in the foreground, from its first file to its last word. */
import { createApp } from '../app.js';
import { openAppConfig } from '../app-config.js';
import { processEnvironment } from '../config/environment.js';
import { createLogger } from '../observability/log.js';
import { bannerText } from './banner.js';
import { listenForStop } from './stop-signals.js';

/** How long running turns get to finish after the first signal. */
const deadlineMs = 10_000;
const forcedExitCode = 1;

/** Returns when the daemon has stopped in order. Throws `ConfigError`, `StorageError`, `UserError` when it cannot start. */
export async function startCommand(): Promise<number> {
  const signals = listenForStop(process, () => process.exit(forcedExitCode));
  const env = processEnvironment();
  const { app: appConfig, loaded } = await openAppConfig(env);
  const { config, paths, token, notices, secrets } = loaded;
  const { version } = appConfig;
  const log = createLogger({ level: config.log.level, secrets, file: paths.logFile, stderr: process.stderr });
  process.chdir(paths.workspace);
  const app = createApp(appConfig, { log });

  // The turn that was running is taken up at the next start, so the way to be safe is to end.
  process.on('uncaughtException', (error, origin) => {
    log.error({ err: error, origin }, 'crash');
    process.stderr.write(`error: PicoBot has crashed and must be started again; see ${paths.logFile}\n`);
    process.exit(1);
  });

  try {
    const { url } = await app.start();
    log.info({ version, url, pid: process.pid, home: paths.home, model: app.status().model }, 'daemon start');
    process.stdout.write(bannerText({ url, token, status: app.status(), paths, notices, locale: localeOf(env) }));
  } catch (error) {
    await app
      .stop({ deadlineMs: 0 })
      .catch((stopError: unknown) => log.warn({ err: stopError }, 'stop after a failed start'));
    throw error;
  }

  const signal = await signals.first;
  log.info({ signal }, 'daemon stopping');
  process.stdout.write(`\nStopping: running turns get ${deadlineMs / 1000} s to finish. Once more to stop at once.\n`);
  await app.stop({ deadlineMs });
  log.info({}, 'daemon stop');
  process.stdout.write('Stopped. What was not finished goes on at the next start.\n');
  signals.release();
  return 0;
}

function localeOf(env: Readonly<Record<string, string | undefined>>): string {
  return env.LC_ALL || env.LC_MESSAGES || env.LANG || '';
}
