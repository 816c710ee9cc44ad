/** A long list of messages in chunks that stay the same objects while the list grows at both ends. */
import type { ShownMessage } from './shown-message.js';

export interface Chunk {
  /** Of its first message. */
  id: number;
  messages: readonly ShownMessage[];
}

export interface Chunker {
  update(messages: readonly ShownMessage[]): readonly Chunk[];
}

const chunkSize = 30;

export function createChunker(): Chunker {
  let known = new Map<number, Chunk>();
  return {
    update(messages) {
      const chunks: Chunk[] = [];
      let open: ShownMessage[] = [];
      for (const message of messages) {
        if (open.length >= chunkSize || (open.length > 0 && known.has(message.id))) {
          chunks.push(keep(known, open));
          open = [];
        }
        open.push(message);
      }
      if (open.length > 0) chunks.push(keep(known, open));
      known = new Map(chunks.map((chunk) => [chunk.id, chunk]));
      return chunks;
    },
  };
}

/** The chunk as it was, when its messages are the same objects. */
function keep(known: ReadonlyMap<number, Chunk>, messages: readonly ShownMessage[]): Chunk {
  const { id } = messages[0]!;
  const before = known.get(id);
  const isSame =
    before?.messages.length === messages.length &&
    before.messages.every((message, index) => message === messages[index]);
  return before && isSame ? before : { id, messages };
}
