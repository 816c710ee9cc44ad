/**
 * A chat platform for the crash harness, in a process that is not killed: offers updates until they are acknowledged,
 * takes sends (once per idempotency key, when told to), and counts what the tool did.
 */
import { createServer } from 'node:http';

export async function startPlatform({ isIdempotent }) {
  const updates = [];
  const sent = [];
  const toolRuns = [];
  const watchers = new Set();
  const changed = () => {
    for (const watcher of [...watchers]) watcher();
  };
  const routes = {
    '/updates': (_body, answer) => {
      const open = updates.filter((update) => !update.isAcknowledged);
      answer(open.map((update) => update.message));
    },
    '/acknowledge': ({ messageId }, answer) => {
      for (const update of updates) if (update.message.messageId === messageId) update.isAcknowledged = true;
      answer({});
    },
    '/send': (message, answer) => {
      if (!isIdempotent || !sent.some((earlier) => earlier.id === message.id)) sent.push(message);
      answer({});
    },
    '/tool': (run, answer) => {
      toolRuns.push(run);
      answer({ count: toolRuns.length });
    },
  };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      const answer = (data) => {
        response.end(JSON.stringify(data));
        changed();
      };
      routes[request.url](text === '' ? {} : JSON.parse(text), answer);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    sent,
    toolRuns,
    offer(message) {
      updates.push({ message, isAcknowledged: false });
    },
    /** Resolves when `isTrue` holds; looked at after every call that the platform gets. */
    until(isTrue) {
      return new Promise((resolve) => {
        const watcher = () => {
          if (!isTrue()) return;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
        watcher();
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
