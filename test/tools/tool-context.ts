/** The context of a call that nobody stops. */
import type { ToolContext } from '../../src/tools/tool.js';

export const context: ToolContext = {
  signal: new AbortController().signal,
  actor: { channel: 'cli', chatId: 'local', chatType: 'direct', userId: 'u1', role: 'owner' },
  sessionId: 'cli:local:d_1',
  runId: 'run_1',
};
