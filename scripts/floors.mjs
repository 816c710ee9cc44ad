/** Which room may import which: the table of the dependency rule. See ARCHITECTURE.md for the drawing. */

/**
 * `floor`: imports go to lower floors only, never to another room of the same one.
 * `only`: nothing but these rooms and files (and the ground floor). `not`: lower rooms that it must not know all the same.
 * `also`: named exceptions, each with its reason.
 */
export const rooms = {
  'src/protocol': { floor: 0, not: ['src/config', 'src/observability'] },
  'src/config': { floor: 0 },
  'src/observability': { floor: 0 },

  'src/storage': { floor: 1 },
  // The queues are tables.
  'src/bus': { floor: 1, also: ['src/storage'] },

  'src/providers': { floor: 2, not: ['src/bus', 'src/storage'] },
  // The memory tools are the agent's hands on the memory.
  'src/tools': { floor: 2, not: ['src/bus'], also: ['src/memory'] },
  'src/mcp': { floor: 2, not: ['src/bus'], also: ['src/tools/tool.ts'] },
  'src/skills': { floor: 2, not: ['src/bus'], also: ['src/tools/tool.ts'] },
  'src/permissions': { floor: 2, not: ['src/bus'], also: ['src/tools/tool.ts'] },
  'src/memory': { floor: 2, not: ['src/bus'] },
  'src/media': { floor: 2, not: ['src/bus'] },

  'src/agent': { floor: 3, not: ['src/bus', 'src/storage'] },
  'src/session': { floor: 4 },
  'src/scheduler': { floor: 5 },
  'src/tasks': { floor: 5 },
  'src/team': { floor: 5 },

  'src/gateway': { floor: 6, only: [] },
  // Contract, manager and dispatcher: what all adapters share.
  channels: { floor: 6, only: ['src/bus', 'src/gateway/http-host.ts'] },
  'channels/*': { floor: 6, only: ['channels', 'channels/markdown', 'src/gateway/http-host.ts'] },
  // Text to tree to parts; knows nothing of channels.
  'channels/markdown': { floor: 5, only: [] },
  // Browser code.
  'channels/websocket/page': { floor: 6, only: ['src/protocol'], not: ['src/config', 'src/observability'] },

  'src/app.ts': { floor: 7, also: ['src/channel-sources.ts'] },
  'src/channel-sources.ts': { floor: 7 },
  'src/app-config.ts': { floor: 7, also: ['src/app.ts', 'src/channel-sources.ts'] },
  'src/client': { floor: 8, only: [] },
  'src/cli': { floor: 8, only: ['src/app.ts', 'src/app-config.ts', 'src/client'] },
};

/** Every room may import these. */
export const groundFloor = ['src/protocol', 'src/config', 'src/observability'];

/** Where the process environment is read, and where `console` may be used. */
export const environmentReaders = ['src/config'];
export const consoleUsers = ['src/cli', 'src/client'];
