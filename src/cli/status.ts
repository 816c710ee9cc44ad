/** `picobot status`: what the running daemon says about itself. */
import { type ConnectionChoice, resolveConnection } from '../client/connection.js';
import { createHttpClient } from '../client/http.js';
import type { DaemonStatus } from '../protocol/status.js';
import { cleanLine } from './terminal/clean-text.js';
import { tableText } from './terminal/table.js';
import { timeText } from './terminal/time-text.js';

export interface StatusOptions extends ConnectionChoice {
  json?: boolean;
}

/** Throws `UserError` when no daemon answers. */
export async function statusCommand(options: StatusOptions): Promise<number> {
  const connection = resolveConnection(options);
  const status = await createHttpClient(connection).status();
  process.stdout.write(options.json ? `${JSON.stringify(status, null, 2)}\n` : statusText(status, connection.url));
  return 0;
}

function statusText({ version, state, startedAt, model, channels, queues }: DaemonStatus, url: string): string {
  const { inboundWaiting, running, outboundWaiting } = queues;
  const lines = [
    `PicoBot ${cleanLine(version)} at ${url}: ${cleanLine(state)} since ${timeText(startedAt)}`,
    `model: ${cleanLine(model)}`,
    `messages: ${inboundWaiting} waiting, ${running} in work, ${outboundWaiting} to be sent`,
  ];
  const rows = channels.map((channel) => [
    channel.id,
    channel.state,
    channel.lastMessageAt === undefined ? '-' : timeText(channel.lastMessageAt),
    channel.lastError ?? '',
  ]);
  const columns = [
    { title: 'CHANNEL' },
    { title: 'STATE' },
    { title: 'LAST MESSAGE' },
    { title: 'LAST ERROR', isFlexible: true },
  ];
  const width = process.stdout.isTTY ? process.stdout.columns : undefined;
  return `${lines.join('\n')}\n\n${tableText(columns, rows, width)}`;
}
