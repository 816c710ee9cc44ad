/** Fields that HTTP bodies and WebSocket frames share. */
import { z } from 'zod';

/** Largest id that a client may choose, in UTF-16 code units. */
const maxIdLength = 200;

/** What a person typed. Lone surrogates cannot be stored; they become U+FFFD here, so that a resend compares equal. */
export const messageText = z
  .string()
  .refine((text) => text.trim() !== '', 'is empty; write something to answer')
  .transform((text) => text.replace(/\p{Surrogate}/gu, '\ufffd'));

/** The client's own id of a message: sending it again with the same text never runs it twice. */
export const messageId = z
  .string()
  .min(1)
  .max(maxIdLength)
  .regex(/^\P{Cc}*$/u, 'must not hold control characters')
  .refine((id) => !/\p{Surrogate}/u.test(id), 'must be well-formed Unicode');

/** `default`, the id of a dialog in the sender's own chat, or a full `channel:chat:dialog` id. Three ids and their escapes. */
export const sessionReference = z
  .string()
  .min(1)
  .max(4 * maxIdLength);
