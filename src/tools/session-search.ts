/** `session_search`: what was said in earlier dialogs, as far as the asker may see it. */
import { z } from 'zod';
import { defineTool, type ToolContext } from './tool.js';

export interface SaidBefore {
  sessionId: string;
  title: string;
  role: 'user' | 'assistant';
  /** ms since the epoch. */
  at: number;
  /** Each hit between ⟦ and ⟧. */
  snippet: string;
}

export type SearchDialogs = (
  query: string,
  options: { role?: 'user' | 'assistant'; limit: number; recent: boolean },
  actor: ToolContext['actor'] & { sessionId: string },
) => Promise<SaidBefore[]>;

export function sessionSearchTool(search: SearchDialogs) {
  return defineTool({
    name: 'session_search',
    description: 'Search what was said in earlier dialogs of this chat. Without a query: the newest messages.',
    input: z.strictObject({
      query: z.string().max(1000).default(''),
      role: z.enum(['user', 'assistant']).optional(),
      limit: z.int().min(1).max(50).default(10),
    }),
    isReadOnly: true,
    async run({ query, role, limit }, { actor, sessionId }) {
      const recent = query.trim() === '';
      const options = { limit, recent, ...(role !== undefined && { role }) };
      const found = await search(query, options, { ...actor, sessionId });
      if (found.length === 0) return 'Nothing was found.';
      return found
        .map(
          ({ title, role: who, at, snippet }) =>
            `- ${new Date(at).toISOString().slice(0, 16)} [${title}] ${who}: ${snippet}`,
        )
        .join('\n');
    },
  });
}
