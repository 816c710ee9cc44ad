/** Finds the dialog that a person means by a full id, a dialog id, or the beginning of one. */
import type { SessionSummary } from '../protocol/control.js';
import { UserError } from '../protocol/errors.js';
import type { HttpClient, SessionQuery } from './http.js';

/** Pages of 200 that are searched for a short id. */
const maxPages = 25;

/** Throws `session_not_found`, `ambiguous_id`. Archived dialogs are found too. */
export async function findSession(http: HttpClient, text: string, within: SessionQuery = {}): Promise<SessionSummary> {
  if (text.includes(':')) return http.session(text);
  const found = await startingWith(http, text, within);
  const exact = found.filter((session) => session.dialogId === text);
  const matches = exact.length > 0 ? exact : found;
  if (matches.length === 1) return matches[0]!;
  if (matches.length === 0) {
    throw new UserError(
      'session_not_found',
      `No dialog's id starts with "${text}". "picobot sessions list" shows them.`,
    );
  }
  const ids = matches.slice(0, 5).map((session) => session.id);
  throw new UserError(
    'ambiguous_id',
    `"${text}" fits ${matches.length} dialogs: ${ids.join(', ')}${matches.length > 5 ? ', …' : ''}. Give more of the id.`,
  );
}

async function startingWith(http: HttpClient, text: string, within: SessionQuery): Promise<SessionSummary[]> {
  const found: SessionSummary[] = [];
  for (const archived of [false, true]) {
    let cursor: string | undefined;
    for (let page = 0; page < maxPages && (page === 0 || cursor !== undefined); page += 1) {
      const { items, nextCursor } = await http.sessions({ ...within, archived, limit: 200, cursor });
      found.push(...items.filter((session) => session.dialogId.startsWith(text)));
      cursor = nextCursor;
    }
  }
  return found;
}
