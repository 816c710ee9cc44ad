/**
 * Sends an answer of several messages so that a retry or restart goes on with the first part that the platform has not
 * confirmed. Only a part on the wire when the process dies can come twice.
 */
import type { ChannelStore } from './channel-parts.js';

/** `send` gets the part and its index and returns the platform's id. Resolves to the id of the first part. */
export async function sendParts<Part>(
  store: ChannelStore,
  outboundId: string,
  parts: readonly Part[],
  send: (part: Part, index: number) => Promise<string>,
): Promise<string | undefined> {
  const key = `sent:${outboundId}`;
  const sent: string[] = JSON.parse(store.get(key) ?? '[]');
  for (let index = sent.length; index < parts.length; index += 1) {
    sent.push(await send(parts[index]!, index));
    store.set(key, JSON.stringify(sent));
  }
  return sent[0];
}
