/** A reader of server-sent events that can stop anywhere, and stop reading. */
import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AgentEvent } from '../../../src/protocol/events.js';
import { token } from '../../gateway/server.js';

export interface StreamedEvent {
  name: string;
  id: number | undefined;
  data: AgentEvent;
}

export interface EventStream {
  status: number;
  headers: IncomingHttpHeaders;
  events: StreamedEvent[];
  comments: string[];
  /** Resolves when the predicate holds; rejects when the stream ends before. */
  until(isEnough: (events: StreamedEvent[]) => boolean): Promise<void>;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  pause(): void;
  resume(): void;
  /** Drops the connection. */
  drop(): void;
}

export function openStream(
  server: { port: number },
  body: object,
  options: { lastEventId?: number | undefined } = {},
): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const request: ClientRequest = httpRequest(
      {
        host: '127.0.0.1',
        port: server.port,
        path: '/api/chat',
        method: 'POST',
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'text/event-stream',
          ...(options.lastEventId !== undefined && { 'last-event-id': String(options.lastEventId) }),
        },
      },
      (response) => resolve(readStream(request, response)),
    );
    request.on('error', reject);
    request.end(JSON.stringify(body));
  });
}

function readStream(request: ClientRequest, response: IncomingMessage): EventStream {
  const events: StreamedEvent[] = [];
  const comments: string[] = [];
  const waiters = new Set<() => void>();
  let rest = '';
  response.setEncoding('utf8');
  response.on('error', () => {});
  request.on('error', () => {});
  response.on('data', (chunk: string) => {
    rest += chunk;
    for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
      const block = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (block.startsWith(':')) comments.push(block);
      else events.push(parseBlock(block));
    }
    for (const check of waiters) check();
  });
  const ended = new Promise<void>((resolve) => response.on('close', resolve));
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    comments,
    ended,
    until: (isEnough) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!isEnough(events)) return;
          waiters.delete(check);
          resolve();
        };
        waiters.add(check);
        check();
        void ended.then(() => reject(new Error('the stream ended first')));
      }),
    pause: () => response.pause(),
    resume: () => response.resume(),
    drop: () => response.destroy(),
  };
}

function parseBlock(block: string): StreamedEvent {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  const id = fields.get('id');
  return {
    name: fields.get('event') ?? '',
    id: id === undefined ? undefined : Number(id),
    data: JSON.parse(fields.get('data') ?? 'null'),
  };
}

/** The answer as a reader puts it together. */
export function textOf(events: readonly StreamedEvent[]): string {
  return events.map(({ data }) => (data.type === 'text-delta' ? data.text : '')).join('');
}
