/** Server-sent events: what a response's body says, split anywhere. */

export interface ServerSentEvent {
  type: string;
  data: string;
}

/** Longest line that is read, in UTF-16 code units. */
const maxLineLength = 16 * 1024 * 1024;

/** Comments and fields that we do not use are passed over; an event without its blank line is none. */
export async function* readServerSentEvents(
  chunks: AsyncIterable<Uint8Array>,
  onChunk: () => void = () => {},
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  let type = 'message';
  let data: string[] = [];
  for await (const chunk of chunks) {
    onChunk();
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxLineLength) throw new Error('a line of the event stream is too long');
    for (const raw of lines) {
      const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
      if (line === '') {
        if (data.length > 0) yield { type, data: data.join('\n') };
        type = 'message';
        data = [];
      } else if (line.startsWith('event:')) type = fieldValue(line, 'event:');
      else if (line.startsWith('data:')) data.push(fieldValue(line, 'data:'));
    }
  }
}

function fieldValue(line: string, field: string): string {
  const value = line.slice(field.length);
  return value.startsWith(' ') ? value.slice(1) : value;
}
