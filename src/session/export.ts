/** A dialog as a file: Markdown for people, JSON that can be imported again. */
import { z } from 'zod';
import type { SessionSummary, VisibleMessage } from '../protocol/control.js';
import { UserError } from '../protocol/errors.js';
import type { AgentEvent } from '../protocol/events.js';

export function toMarkdown(session: SessionSummary, messages: readonly VisibleMessage[]): string {
  const parts = messages.map((message) => {
    const who =
      message.role === 'user' ? (message.senderName ?? 'User') : message.role === 'assistant' ? 'Assistant' : 'Notice';
    const calls = (message.toolCalls ?? []).map(
      (call) => `> \`${call.name}\` ${fenceFree(JSON.stringify(call.input))} → ${fenceFree(call.output ?? call.state)}`,
    );
    return [`### ${who} – ${new Date(message.at).toISOString()}`, message.text, ...calls].filter(Boolean).join('\n\n');
  });
  return `# ${session.title}\n\n\`${session.id}\`, ${session.messageCount} messages\n\n${parts.join('\n\n')}\n`;
}

export const dialogFileVersion = 1;

export function toJson(session: SessionSummary, events: readonly AgentEvent[]): string {
  const { title, createdAt, lastActiveAt } = session;
  const stored = events.filter((event) => event.type !== 'text-delta' && event.type !== 'reasoning-delta');
  return JSON.stringify({ version: dialogFileVersion, title, createdAt, lastActiveAt, events: stored });
}

const eventSchema = z.looseObject({
  id: z.int().min(1),
  runId: z.string().min(1).max(200),
  turn: z.int().min(0),
  at: z.int(),
  type: z.string().min(1).max(40),
});
const fileSchema = z.object({
  version: z.literal(dialogFileVersion),
  title: z.string().min(1).max(200),
  createdAt: z.int(),
  lastActiveAt: z.int(),
  events: z.array(eventSchema).max(1_000_000),
});

export type DialogFile = Omit<z.output<typeof fileSchema>, 'events'> & { events: AgentEvent[] };

/** Throws `UserError` `invalid_dialog_file`. Ids must rise; what the events hold is checked as the model's input is built. */
export function readDialogFile(data: unknown): DialogFile {
  const result = fileSchema.safeParse(data);
  const isRising =
    result.success && result.data.events.every((event, index, all) => index === 0 || event.id > all[index - 1]!.id);
  if (!result.success || !isRising) {
    const reason = result.success ? 'event ids do not rise' : z.prettifyError(result.error);
    throw new UserError('invalid_dialog_file', `This is not an exported dialog: ${reason}`);
  }
  return result.data as unknown as DialogFile;
}

function fenceFree(text: string): string {
  const flat = text.replace(/\s+/g, ' ').replaceAll('`', "'");
  return `\`${flat.length > 500 ? `${flat.slice(0, 500)}…` : flat}\``;
}
