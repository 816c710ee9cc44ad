/** The composition root: builds every part from a configuration, starts and stops them. Read it to see the program. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Channel } from '../channels/channel.js';
import { createChannelManager } from '../channels/channel-manager.js';
import { httpChannel } from '../channels/http/http.js';
import { createOutboundDispatcher } from '../channels/outbound-dispatcher.js';
import { createWebSocketDoor } from '../channels/websocket/websocket.js';
import { completeText } from './agent/complete-text.js';
import { proposeMemories } from './agent/propose-memories.js';
import { writeTitle } from './agent/write-title.js';
import { createBus } from './bus/bus.js';
import { createChannelValues } from './bus/channel-store.js';
import type { ChannelSource } from './channel-sources.js';
import type { Config } from './config/schema.js';
import { createGateway } from './gateway/gateway.js';
import { addMemoryRoutes } from './gateway/memory-routes.js';
import { createConsolidator } from './memory/consolidate.js';
import { createDictionary } from './memory/dictionary.js';
import { createIdentities } from './memory/identities.js';
import { createMemoryAdmin } from './memory/memory-admin.js';
import { createMemoryStore } from './memory/memory-store.js';
import { recallForPrompt } from './memory/recall-for-prompt.js';
import { scope, scopesOf, userScope } from './memory/scopes.js';
import { createSegmenter } from './memory/segmenter.js';
import { realTimers, type Timers } from './memory/timers.js';
import { toolMemory } from './memory/tool-memory.js';
import { createTranscriptIndex } from './memory/transcript-index.js';
import type { Logger } from './observability/log.js';
import { createMetrics } from './observability/metrics.js';
import type { Observer } from './observability/observer.js';
import type { ControlChannel, EventFeed } from './protocol/control.js';
import { UserError } from './protocol/errors.js';
import type { EventOf } from './protocol/events.js';
import { newId as newRandomId, type SessionId } from './protocol/ids.js';
import type { InboundMessage } from './protocol/messages.js';
import type { SettingsService } from './protocol/settings.js';
import type { DaemonStatus } from './protocol/status.js';
import { createHttpFetch } from './providers/http-fetch.js';
import { createModelCatalog, type ModelCatalog } from './providers/model-catalog.js';
import { awaitAnswer } from './session/await-answer.js';
import { commands } from './session/commands/index.js';
import { createEventHub } from './session/event-hub.js';
import { createIdleConsolidation } from './session/idle-consolidation.js';
import { createRunStore } from './session/run-store.js';
import { saveExport } from './session/save-export.js';
import { createSessionManager } from './session/session-manager.js';
import { createSessionSearch } from './session/session-search.js';
import { createSessionStore } from './session/session-store.js';
import { createTitler } from './session/titles.js';
import { createTranscript } from './session/transcript.js';
import type { RecallContext } from './session/turn.js';
import { openDatabase } from './storage/database.js';
import { calculatorTool } from './tools/calculator/calculator.js';
import { currentTimeTool } from './tools/current-time.js';
import { fileReadTool } from './tools/file-read/file-read.js';
import { memoryForgetTool, memoryRecallTool, memoryStoreTool, timelineRecallTool } from './tools/memory-tools.js';
import { createToolRegistry } from './tools/registry.js';
import { sessionSearchTool } from './tools/session-search.js';
import { type Tool, ToolError } from './tools/tool.js';
import { toolResultReadTool } from './tools/tool-result-read.js';

export interface AppConfig {
  config: Config;
  /** Access token of the gateway. */
  token: string;
  /** Folder of the database and of the files that tools may touch. */
  workspace: string;
  version: string;
  /** IANA name; what "today" means, and the default of `current_time`. */
  timeZone: string;
  /** Key variables of platforms found in the environment: name → key. */
  environmentKeys: Readonly<Record<string, string>>;
  settings: SettingsService;
  /** The accounts of platforms that are switched on. Default none. */
  channelSources?: readonly ChannelSource[];
}

/** What an embedding program or a test may put in place of the real thing. */
export interface AppDependencies {
  log: Logger;
  now?: () => number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  timers?: Timers;
  newId?: (prefix: string) => string;
  models?: Pick<ModelCatalog, 'main' | 'resolve' | 'list' | 'defaultReference'>;
  /** Added to the built-in ones. */
  channels?: readonly Channel[];
  /** In place of the built-in ones. */
  tools?: readonly Tool[];
  observers?: readonly Observer[];
  /** Called at every step of a turn; the crash harness ends the process there. */
  checkpoint?: (name: string) => void;
  /** False: no server; messages come through channels and the bus alone. */
  withGateway?: boolean;
}

export type Answer = Pick<EventOf<'run-end'>, 'sessionId' | 'runId' | 'text' | 'stopReason' | 'usage' | 'error'>;

export interface App {
  readonly control: ControlChannel;
  readonly feed: EventFeed;
  /** Takes up unfinished work and opens the doors. Throws `UserError` (`port_in_use`, …). `url` is empty without a gateway. */
  start(): Promise<{ url: string }>;
  /** One message in, its answer out, over the same bus as every channel. Aborting ends the waiting, not the run. */
  submit(message: { text: string; dialogId?: string; messageId?: string }, signal: AbortSignal): Promise<Answer>;
  /** Puts a message on the bus, as a channel does. */
  receive(message: InboundMessage): Promise<{ duplicate: boolean }>;
  /** New work is refused, running turns get `deadlineMs`; what is not finished is taken up at the next start. */
  stop(options: { deadlineMs: number }): Promise<void>;
  status(): DaemonStatus;
}

/** Ids of the channels whose mailbox is the transcript: any of them may go on with a dialog of another. */
const localChannels: ReadonlySet<string> = new Set(['http', 'websocket', 'cli_chat']);
/** Where an embedding program's own messages live. */
const embeddedChat = { channel: 'http', chatId: 'embedded' };
const dayMs = 86_400_000;
/** Done messages are remembered this long to recognise redeliveries. */
const rememberDoneMs = 30 * dayMs;
const timelineImportance = 0.3;
/** Of what is recalled for one message. */
const recallTokenBudget = 1500;
const pruneEveryMs = 3_600_000;

/** Opens the database and builds everything; nothing moves before `start`. Throws `StorageError`, `ConfigError`. */
export function createApp(app: AppConfig, deps: AppDependencies): App {
  const { config } = app;
  const { log } = deps;
  const now = deps.now ?? Date.now;
  const newId = deps.newId ?? newRandomId;
  const checkpoint = deps.checkpoint ?? (() => {});
  const pause =
    deps.sleep ?? ((ms: number, signal: AbortSignal) => sleep(ms, undefined, { ref: false, signal }).catch(() => {}));
  const startedAt = now();
  const { timeZone } = app;

  const db = openDatabase({ workspace: app.workspace, durability: config.storage.durability, pid: process.pid });
  const bus = createBus(db, { maxPerLane: config.sessions.maxQueued, now });
  const metrics = createMetrics();
  const hub = createEventHub(
    [
      metrics,
      { onEvent: (event) => event.type === 'run-end' && transcriptIndex.wake() },
      { onEvent: (event) => consolidation.onEvent(event) },
      ...(deps.observers ?? []),
    ],
    log,
  );
  const models =
    deps.models ??
    createModelCatalog({
      config,
      environmentKeys: app.environmentKeys,
      fetch: createHttpFetch(),
      log,
      now,
      random: Math.random,
    });
  const { auxiliaryModel } = config.agent;
  const auxiliary = () => (auxiliaryModel === null ? models.main() : models.resolve(auxiliaryModel));
  const sessions = createSessionStore(db, { now });
  const transcript = createTranscript(db);
  const segmenter = createSegmenter({ choice: config.memory.segmenter, log });
  const dictionary = createDictionary(join(app.workspace, 'dictionary.txt'));
  const memory = createMemoryStore({ db, segmenter, dictionary, config: config.memory, timeZone, now, newId, log });
  const transcriptIndex = createTranscriptIndex({ db, segmenter, dictionary, log, now });
  const search = createSessionSearch(transcriptIndex, sessions, transcript);
  const consolidation = createIdleConsolidation({
    idleMs: config.memory.idleConsolidationMinutes * 60_000,
    sessions,
    transcript,
    memory,
    consolidator: createConsolidator(db, memory, now),
    propose: (input, signal) => proposeMemories(auxiliary(), input, signal),
    timers: deps.timers ?? realTimers,
    log,
  });
  const identities = createIdentities(db);
  // One person sits behind all local doors.
  for (const channel of localChannels) identities.link('owner', channel, 'owner');
  const memoryAccess = toolMemory(memory, identities, (message, cause) => new ToolError(message, { cause }));
  const recall: RecallContext = async (text, actor) => {
    const { readable } = scopesOf(actor, identities);
    const options = { limit: config.memory.recallLimit, tokenBudget: recallTokenBudget };
    const { entries, hint } = await recallForPrompt({ store: memory, timeZone, now }, text, readable, options);
    const memories = entries.map(({ key, content }) => ({ key, content }));
    return hint === undefined ? { memories } : { memories, hint };
  };
  const tools = deps.tools ?? [
    calculatorTool(),
    currentTimeTool({ timeZone, now }),
    memoryStoreTool(memoryAccess),
    memoryRecallTool(memoryAccess),
    timelineRecallTool(memoryAccess),
    memoryForgetTool(memoryAccess),
    sessionSearchTool((query, options, actor) => {
      // An owner in private may look everywhere; in a group the answer is seen by all, so only there.
      const isPrivate = actor.chatType === 'direct' && actor.role === 'owner';
      return search(query, isPrivate ? options : { ...options, within: actor.sessionId as SessionId });
    }),
    fileReadTool({ root: app.workspace }),
    toolResultReadTool({
      readResult(sessionId, callId) {
        const row = sessions.find(sessionId);
        return row && transcript.readToolResult(row.key, callId);
      },
    }),
  ];
  const titler = createTitler({
    sessions,
    writeTitle:
      auxiliaryModel === null
        ? undefined
        : (conversation, signal) => writeTitle(models.resolve(auxiliaryModel), conversation, signal),
    log,
  });
  const manager = createSessionManager({
    db,
    bus,
    transcript,
    sessions,
    titler,
    runs: createRunStore(db),
    hub,
    models,
    tools,
    toolSpecs: createToolRegistry(tools).specs(),
    summarise: (prompt, signal) => completeText(auxiliary(), prompt, signal),
    rememberSummary({ sessionId, runId, key, summary }) {
      const own = scope('session', sessionId);
      try {
        memory.store(
          { scope: own, key, content: summary, category: 'timeline', importance: timelineImportance },
          { by: 'compaction', sessionId, runId, writable: [own] },
        );
      } catch (error) {
        log.warn({ err: error, sessionId }, 'summary of a compaction is not kept as a memory');
      }
    },
    recall,
    search,
    commandServices: {
      memory: {
        find: async (query, actor) => {
          const { readable } = scopesOf(actor, identities);
          return query === ''
            ? memory.list({ scopes: readable, limit: 20 }).items
            : memory.recall(query, { scopes: readable });
        },
        forget: async (key, actor) => {
          const { writable } = scopesOf(actor, identities);
          memory.forget(key, { by: `${actor.channel}:${actor.userId}`, sessionId: actor.sessionId, writable });
        },
        addWord: async (word) => {
          dictionary.add(word);
          memory.start();
          transcriptIndex.wake();
        },
      },
      saveFile: (name, content) => saveExport(app.workspace, name, content),
    },
    config,
    timeZone,
    defaultTitle: config.sessions.language === 'zh' ? '新对话' : 'New chat',
    now,
    sleep: pause,
    newId,
    checkpoint,
    log,
  });
  const { control } = manager;

  const isLocalChannel = (id: string) => localChannels.has(id);
  const doors = createWebSocketDoor({
    control,
    feed: hub,
    isLocalChannel,
    settings: app.settings,
    models,
    now,
    newId,
    log,
    version: app.version,
  });
  const channelValues = createChannelValues(db, { now });
  const commandSummaries = commands.map(({ names: [name], usage, summary }) => ({
    name,
    ...(usage !== undefined && { usage }),
    summary,
  }));
  const platformChannels = (app.channelSources ?? []).map(({ id, create }) =>
    create({
      id,
      log: log.child({ channel: id }),
      now,
      sleep: pause,
      store: channelValues.of(id),
      media: {
        open: async ({ id: mediaId }) => {
          throw new UserError('media_not_found', `The file ${mediaId} is not kept any more.`);
        },
      },
      commands: commandSummaries,
    }),
  );
  const channels = [
    httpChannel({ control, feed: hub, isLocalChannel, now, newId, log }),
    ...doors,
    ...platformChannels,
    ...(deps.channels ?? []),
  ];
  const receive = async (message: InboundMessage) => {
    checkpoint('after-receive');
    const receipt = bus.receive(message);
    checkpoint('after-inbound-commit');
    return receipt;
  };
  const channelManager = createChannelManager({ channels, receive, log, now, sleep: pause });
  const dispatcher = createOutboundDispatcher({
    queue: bus.outbound,
    channel: channelManager.get,
    checkpoint,
    sleep: pause,
    log,
  });

  let state: DaemonStatus['state'] = 'starting';
  const status = (): DaemonStatus => ({
    version: app.version,
    state,
    startedAt,
    model: models.defaultReference(),
    channels: channelManager.statuses(),
    queues: {
      inboundWaiting: manager.counts().waiting,
      running: manager.counts().running,
      outboundWaiting: bus.outbound.waitingCount(),
    },
  });
  const gateway =
    deps.withGateway === false
      ? undefined
      : createGateway({
          config: config.gateway,
          token: app.token,
          log,
          control,
          status,
          metricsText: () => metrics.text(status()),
          settings: app.settings,
          models: () => models.list(),
          pageDir: fileURLToPath(new URL('../page', import.meta.url)),
          now,
        });
  if (gateway) addMemoryRoutes(gateway.host.routes, createMemoryAdmin(memory, userScope('http', 'owner')));
  for (const channel of channels) if (gateway) channel.mount?.(gateway.host);

  const running = new AbortController();
  let channelsEnded: Promise<void> = Promise.resolve();
  let stopping: Promise<void> | undefined;

  const prune = () => {
    memory.cleanUp().catch((error: unknown) => log.error({ err: error }, 'memory clean-up failed'));
    while (bus.inbound.prune(now() - rememberDoneMs) === 500);
    while (bus.outbound.prune(now() - 7 * dayMs) === 500);
    channelValues.prune(now() - 30 * dayMs);
  };

  return {
    control,
    feed: hub,
    receive,
    status,
    async submit({ text, dialogId = 'default', messageId = newId('m') }, signal) {
      const end = awaitAnswer(hub, messageId, signal);
      // A refusal is thrown by `receive`; then nobody waits for the answer.
      end.catch(() => {});
      await receive({
        ...embeddedChat,
        dialogId,
        messageId,
        sender: { id: 'owner', role: 'owner' },
        chatType: 'direct',
        mentioned: true,
        text,
        attachments: [],
        sentAt: now(),
        expectsOwnAnswer: true,
      });
      return end;
    },
    async start() {
      manager.start();
      memory.start();
      transcriptIndex.wake();
      dispatcher.start(running.signal);
      channelsEnded = channelManager.run(running.signal);
      const address = await gateway?.listen();
      state = 'ready';
      const timer = setInterval(prune, pruneEveryMs).unref();
      running.signal.addEventListener('abort', () => clearInterval(timer));
      return { url: address?.url ?? '' };
    },
    stop({ deadlineMs }) {
      stopping ??= (async () => {
        state = 'draining';
        bus.closeGate();
        await manager.stop(deadlineMs);
        await Promise.race([dispatcher.settle(), sleep(2000, undefined, { ref: false })]);
        running.abort();
        await channelsEnded;
        await gateway?.close(1000);
        await consolidation.stop();
        await transcriptIndex.close();
        await memory.close();
        await segmenter.close();
        db.close();
      })();
      return stopping;
    },
  };
}
