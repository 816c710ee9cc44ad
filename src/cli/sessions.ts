/** `picobot sessions`: the dialogs of the running daemon. */
import { type ConnectionChoice, resolveConnection } from '../client/connection.js';
import { findSession } from '../client/find-session.js';
import { createHttpClient, type HttpClient, type SessionQuery } from '../client/http.js';
import { processEnvironment } from '../config/environment.js';
import type { SearchHit, SessionSummary, VisibleMessage } from '../protocol/control.js';
import { cleanLine, cleanText } from './terminal/clean-text.js';
import { MarkdownStyler } from './terminal/markdown-styler.js';
import { createStyle, type Style, wantsColor } from './terminal/style.js';
import { tableText } from './terminal/table.js';
import { timeText } from './terminal/time-text.js';
import { toolLine } from './terminal/tool-line.js';

export type SessionsAction = 'list' | 'show' | 'rename' | 'archive' | 'restore' | 'delete' | 'search';

export interface SessionsOptions extends ConnectionChoice {
  json?: boolean;
  /** Of `list`: a channel, a chat of it, archived dialogs only. */
  channel?: string;
  chat?: string;
  archived?: boolean;
  /** Rows of `list` and `search`, messages of `show`; default 20. */
  limit?: number;
  /** Of `search`: `user` or `assistant`. */
  role?: string;
}

const defaultLimit = 20;
/** Of one page, as the server takes it. */
const largestPage = { sessions: 200, messages: 1000 };

/** 2 for wrong use; failures are thrown as `UserError`. */
export async function sessionsCommand(
  action: SessionsAction,
  args: readonly string[],
  options: SessionsOptions,
): Promise<number> {
  const [first, ...rest] = args;
  const problem = wrongUse(action, args, options);
  if (problem !== undefined) {
    process.stderr.write(`error: ${problem}\n`);
    return 2;
  }
  const http = createHttpClient(resolveConnection(options));
  const print = (json: unknown, text: () => string) =>
    process.stdout.write(options.json ? `${JSON.stringify(json, null, 2)}\n` : text());

  switch (action) {
    case 'list': {
      const items = await list(http, options);
      print({ items }, () => sessionTable(items));
      return 0;
    }
    case 'search': {
      const { limit = defaultLimit, role } = options;
      const { items } = await http.search({ query: args.join(' '), limit, ...(role !== undefined && { role }) });
      print({ items }, () => hitTable(items));
      return 0;
    }
    case 'show': {
      const session = await findSession(http, first!);
      const limit = Math.min(largestPage.messages, options.limit ?? defaultLimit);
      const { items, nextCursor } = await http.messages(session.id, { limit });
      const isCut = nextCursor !== undefined;
      print({ session, messages: items, ...(isCut && { nextCursor }) }, () => dialogText(session, items, isCut));
      return 0;
    }
    case 'rename':
      return change(await update(http, first!, { title: rest.join(' ') }), 'is the new title of');
    case 'archive':
      return change(await update(http, first!, { archived: true }), 'is archived:');
    case 'restore':
      // A deleted dialog is in no list: only its full id finds it.
      return change(
        await http.restoreSession(first!.includes(':') ? first! : (await findSession(http, first!)).id),
        'is back:',
      );
    case 'delete': {
      const session = await findSession(http, first!);
      await http.deleteSession(session.id);
      return change(session, 'is deleted; "picobot sessions restore" with its full id takes that back:');
    }
  }

  function change(session: SessionSummary, what: string): 0 {
    print(session, () => `"${cleanLine(session.title)}" ${what} ${session.id}\n`);
    return 0;
  }
}

/** What is wrong with the arguments, if anything. */
function wrongUse(action: SessionsAction, args: readonly string[], { limit }: SessionsOptions): string | undefined {
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0)) return '--limit wants a whole number above 0.';
  if (action === 'list') return args.length > 0 ? `"list" takes no "${args[0]}".` : undefined;
  if (!args[0]?.trim())
    return action === 'search' ? 'Say what to search for.' : `Say which dialog: picobot sessions ${action} ID`;
  if (action === 'rename') return args.length < 2 ? 'Give the new title: picobot sessions rename ID TITLE' : undefined;
  if (action === 'search') return undefined;
  return args.length > 1 ? `"${action}" takes one dialog at a time.` : undefined;
}

async function list(http: HttpClient, options: SessionsOptions): Promise<SessionSummary[]> {
  const { channel, chat, archived, limit = defaultLimit } = options;
  const filter: SessionQuery = { channel, chatId: chat, archived };
  const items: SessionSummary[] = [];
  let cursor: string | undefined;
  do {
    const page = await http.sessions({
      ...filter,
      limit: Math.min(largestPage.sessions, limit - items.length),
      cursor,
    });
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined && items.length < limit);
  return items;
}

async function update(
  http: HttpClient,
  text: string,
  change: { title?: string; archived?: boolean },
): Promise<SessionSummary> {
  const { id } = await findSession(http, text);
  return http.updateSession(id, change);
}

function sessionTable(sessions: readonly SessionSummary[]): string {
  if (sessions.length === 0) return 'There are no dialogs here.\n';
  const rows = sessions.map((session) => [
    session.id,
    session.title,
    String(session.messageCount),
    timeText(session.lastActiveAt),
    [session.current && 'current', session.busy && 'busy', session.archived && 'archived'].filter(Boolean).join(', '),
  ]);
  const columns = [
    { title: 'ID' },
    { title: 'TITLE', isFlexible: true },
    { title: 'MESSAGES' },
    { title: 'LAST ACTIVE' },
    { title: 'STATE' },
  ];
  return tableText(columns, rows, terminalWidth());
}

function hitTable(hits: readonly SearchHit[]): string {
  if (hits.length === 0) return 'Nothing was found.\n';
  const rows = hits.map((hit) => [hit.sessionId, hit.role, timeText(hit.at), hit.snippet]);
  return tableText(
    [{ title: 'DIALOG' }, { title: 'ROLE' }, { title: 'AT' }, { title: 'TEXT', isFlexible: true }],
    rows,
    terminalWidth(),
  );
}

function dialogText(session: SessionSummary, messages: readonly VisibleMessage[], isCut: boolean): string {
  const style = createStyle(wantsColor(process.stdout, processEnvironment()));
  const head = style.paint('bold', `${cleanLine(session.title)}  ${session.id}`);
  const cut = isCut ? `${style.paint('dim', '(older messages are left out; --limit shows more)')}\n\n` : '';
  return `${head}\n\n${cut}${messages.map((message) => messageText(message, style)).join('\n')}`;
}

function messageText(message: VisibleMessage, style: Style): string {
  const { role, text, at, senderName, toolCalls = [] } = message;
  const name = role === 'user' ? cleanLine(senderName ?? 'you') : role === 'assistant' ? 'PicoBot' : 'notice';
  const styler = new MarkdownStyler(style);
  const body = styler.push(cleanText(text)) + styler.end();
  const calls = toolCalls.map((call) =>
    style.paint('dim', toolLine({ ...call, ...(call.output !== undefined && { result: call.output }) })),
  );
  const lines = [style.paint('accent', `${name}  ${timeText(at)}`), ...(body === '' ? [] : [body.trimEnd()]), ...calls];
  return `${lines.join('\n')}\n`;
}

/** Undefined when the reader is a program. */
function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}
