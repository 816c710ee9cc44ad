/** `picobot status`: what the running daemon says about itself. */
import { CodedError, UserError } from '../protocol/errors.js';
import type { DaemonStatus } from '../protocol/status.js';
import { daemonAddress } from './daemon-address.js';

export async function statusCommand({ json = false }: { json?: boolean }): Promise<number> {
  const { url, token } = daemonAddress();
  const status = await fetchStatus(url, token);
  process.stdout.write(json ? `${JSON.stringify(status, null, 2)}\n` : statusText(status, url));
  return 0;
}

async function fetchStatus(url: string, token: string): Promise<DaemonStatus> {
  let response: Response;
  try {
    response = await fetch(`${url}/api/status`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(5000),
    });
  } catch (error) {
    throw new UserError('not_running', `No daemon answers at ${url}. Start it with: picobot start`, { cause: error });
  }
  if (response.status === 401) {
    throw new UserError(
      'unauthorized',
      `The daemon at ${url} wants another token; it seems to belong to another home.`,
    );
  }
  if (!response.ok) throw new CodedError('bad_answer', `The daemon at ${url} answered with status ${response.status}.`);
  return (await response.json()) as DaemonStatus;
}

function statusText({ version, state, startedAt, model, channels, queues }: DaemonStatus, url: string): string {
  const since = new Date(startedAt).toLocaleString('sv');
  const channelLines = channels.map(
    ({ id, state, lastError }) => `  ${id}: ${state}${lastError ? ` (${lastError})` : ''}`,
  );
  return `${[
    `PicoBot ${version} at ${url}: ${state} since ${since}`,
    `model: ${model}`,
    `messages: ${queues.inboundWaiting} waiting, ${queues.running} in work, ${queues.outboundWaiting} to be sent`,
    'channels:',
    ...channelLines,
  ].join('\n')}\n`;
}
