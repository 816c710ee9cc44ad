/** What the HTTP routes take and give. Queries arrive as text and leave as values. */
import { z } from 'zod';
import type { StopReason, Usage } from './events.js';
import { messageId, messageText, sessionReference } from './fields.js';

export const chatBody = z.object({
  /** Absent: the current dialog of the chat `http:default`. */
  sessionId: sessionReference.optional(),
  messageId: messageId.optional(),
  text: messageText,
  attachments: z.array(z.unknown()).max(0, 'attachments are not taken here; put the text into `text`').optional(),
  /** True: server-sent events, like `Accept: text/event-stream`. */
  stream: z.boolean().optional(),
});

export const stopBody = z.object({ sessionId: sessionReference.optional() });

const name = z
  .string()
  .min(1)
  .max(200)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters');

export const createSessionBody = z.object({
  channel: name.default('http'),
  chatId: name.default('default'),
  title: name.optional(),
  dialogId: name.optional(),
});

export const updateSessionBody = z
  .object({ title: name.optional(), archived: z.boolean().optional() })
  .refine(({ title, archived }) => title !== undefined || archived !== undefined, 'give `title`, `archived` or both');

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max));

export const sessionListQuery = z.object({
  channel: name.optional(),
  chatId: name.optional(),
  archived: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  limit: wholeNumber(1, 200).optional(),
  cursor: z.string().max(500).optional(),
});

/** `before` is exclusive. */
export const messagesQuery = z.object({
  before: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional(),
  limit: wholeNumber(1, 1000).optional(),
});

/** `after` is exclusive. */
export const eventsQuery = z.object({
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0),
  limit: wholeNumber(1, 1000).default(1000),
});

/** An empty query lists the newest messages. */
export const searchQuery = z.object({
  query: z.string().max(100_000).default(''),
  role: z.enum(['user', 'assistant']).optional(),
  limit: wholeNumber(1, 100).optional(),
});

/** The chat that an imported dialog goes to. */
export const importQuery = z.object({ channel: name.default('http'), chatId: name.default('default') });

export const exportQuery = z.object({ format: z.enum(['md', 'json']).default('md') });

/** `POST /api/chat` without a stream. */
export interface ChatAnswer {
  /** The full id, also when the request named the dialog in a shorter way. */
  sessionId: string;
  messageId: string;
  runId: string;
  text: string;
  stopReason: StopReason;
  usage: Usage;
}

export interface ErrorAnswer {
  error: { code: string; message: string; details?: unknown };
}
