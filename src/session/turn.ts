/**
 * One turn: locked start (store the message, context, prompt), the agent at work, locked end (answer,
 * outbound row and the message's "done" in one transaction). Everything between is in the transcript as it happens.
 */

import type { Summarise } from '../agent/compaction/create-summariser.js';
import { shouldCompact } from '../agent/compaction/should-compact.js';
import { toModelMessages } from '../agent/conversation.js';
import { runAgent } from '../agent/loop.js';
import { buildSystemPrompt, buildUserText } from '../agent/prompt.js';
import type { LoopEvent, RunResult } from '../agent/run-description.js';
import type { Bus } from '../bus/bus.js';
import type { QueuedMessage } from '../bus/inbound-queue.js';
import type { Config } from '../config/schema.js';
import type { Logger } from '../observability/log.js';
import { CodedError } from '../protocol/errors.js';
import type { AgentEvent, EventBody } from '../protocol/events.js';
import type { InboundMessage } from '../protocol/messages.js';
import type { Model, ModelMessage, ToolSpec } from '../providers/model.js';
import type { Database } from '../storage/database.js';
import type { Tool, ToolContext } from '../tools/tool.js';
import { languageFor } from './command-runner.js';
import type { CommandServices } from './commands/command.js';
import { compactSession, rebuildConversation } from './compact-session.js';
import type { EventHub } from './event-hub.js';
import type { LiveSession } from './live-session.js';
import { answerFor } from './notices.js';
import type { RunStore } from './run-store.js';
import type { SessionSearch } from './session-search.js';
import type { SessionStore } from './session-store.js';
import type { Titler } from './titles.js';
import type { Transcript } from './transcript.js';

/** What is recalled for a message and sent with it. */
export type RecallContext = (
  text: string,
  actor: ToolContext['actor'] & { sessionId: string },
) => Promise<RecalledContext>;

export interface RecalledContext {
  memories: { key: string; content: string }[];
  hint?: string;
}

export interface TurnParts {
  db: Database;
  bus: Bus;
  transcript: Transcript;
  sessions: SessionStore;
  runs: RunStore;
  hub: EventHub;
  models: { main(): Model };
  tools: readonly Tool[];
  /** Of `tools`; one array for the whole life of the process. */
  toolSpecs: ToolSpec[];
  summarise: Summarise;
  /** Keeps a checkpoint's summary as a Timeline memory of the dialog. */
  rememberSummary: (checkpoint: { sessionId: string; runId: string; key: string; summary: string }) => void;
  recall: RecallContext;
  search: SessionSearch;
  commandServices: CommandServices;
  titler: Titler;
  config: Config;
  timeZone: string;
  /** Of a dialog that nobody has named yet. */
  defaultTitle: string;
  now: () => number;
  /** Settles after `ms`, or at once when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  newId: (prefix: string) => string;
  /** No-op outside the crash harness, which ends the process there. */
  checkpoint: (name: string) => void;
  log: Logger;
}

/** Ends a turn without an end: the daemon stops, and the message is taken up again at the next start. */
export class ShutdownReason extends CodedError {
  constructor() {
    super('shutting_down', 'PicoBot is stopping. The message is kept and will be answered after the restart.');
  }
}

/** A run that stands in the transcript and has no end yet. */
interface OpenRun {
  id: string;
  turn: number;
  attempt: number;
  batch: QueuedMessage[];
  /** Its events so far. */
  events: AgentEvent[];
  /** The dialog was made smaller while it ran. */
  isCompacted: boolean;
}

/** A run that crashed the process this often is ended with an error instead of being tried again. */
const maxAttempts = 3;
/** More than any step can stream, so that ids handed out before a crash never come again. */
const idGapAfterCrash = 1_000_000;

/** Takes what came meanwhile and may be handed to the running agent. */
export type TakeMore = () => QueuedMessage[];

/** Throws `StorageError` when nothing could be stored, and `ShutdownReason`; then the messages are still open in the queue. */
export async function runTurn(
  parts: TurnParts,
  session: LiveSession,
  batch: QueuedMessage[],
  takeMore: TakeMore,
  signal: AbortSignal,
): Promise<void> {
  const run = await startRun(parts, session, batch);
  await finishRun(parts, session, run, takeMore, signal);
}

/** Goes on with a run that an earlier process left unfinished. Finished tool calls are not run again. */
export async function resumeTurn(
  parts: TurnParts,
  session: LiveSession,
  batch: QueuedMessage[],
  takeMore: TakeMore,
  signal: AbortSignal,
): Promise<void> {
  const id = batch[0]!.runId!;
  const row = parts.runs.find(id)!;
  session.skipIds(idGapAfterCrash);
  const events = parts.transcript.readRun(session, id);
  const run: OpenRun = { id, turn: row.turn, attempt: row.attempt + 1, batch, events: [...events], isCompacted: true };
  parts.db.transaction(() => {
    parts.runs.setAttempt(id, run.attempt);
    store(parts, session, run, {
      type: 'run-start',
      model: row.model,
      messageIds: batch.map((queued) => queued.message.messageId),
      attempt: run.attempt,
    });
    for (const body of interruptedCalls(events)) store(parts, session, run, body);
  });
  for (const event of run.events.slice(events.length)) parts.hub.publish(event);
  await finishRun(parts, session, run, takeMore, signal);
}

async function startRun(parts: TurnParts, session: LiveSession, batch: QueuedMessage[]): Promise<OpenRun> {
  const run: OpenRun = {
    id: parts.newId('run'),
    turn: session.turnCount + 1,
    attempt: 1,
    batch,
    events: [],
    isCompacted: false,
  };
  const model = parts.models.main();
  const last = batch.at(-1)!.message;
  const recalled = await parts.recall(batch.map((queued) => queued.message.text).join('\n'), {
    ...actorOf(last),
    sessionId: session.id,
  });
  const systemPrompt = session.systemPrompt ?? systemPromptFor(parts);
  parts.db.transaction(() => {
    parts.bus.inbound.take(
      batch.map((queued) => queued.seq),
      run.id,
    );
    if (session.systemPrompt === null) {
      parts.sessions.update(session.key, { systemPrompt });
    }
    store(parts, session, run, {
      type: 'run-start',
      model: model.id,
      messageIds: batch.map((queued) => queued.message.messageId),
      attempt: 1,
    });
    parts.runs.start({
      id: run.id,
      sessionKey: session.key,
      turn: run.turn,
      startEventId: run.events[0]!.id,
      model: model.id,
      at: parts.now(),
    });
    if (session.systemPrompt === null) {
      store(parts, session, run, {
        type: 'prompt-snapshot',
        system: systemPrompt,
        tools: parts.tools.map((tool) => tool.name),
      });
    }
    for (const { message } of batch) {
      store(parts, session, run, userMessage(parts, message, message === last ? recalled : undefined));
    }
  });
  session.systemPrompt = systemPrompt;
  session.turnCount = run.turn;
  for (const queued of batch) queued.runId = run.id;
  for (const event of run.events) parts.hub.publish(event);
  return run;
}

async function finishRun(
  parts: TurnParts,
  session: LiveSession,
  run: OpenRun,
  takeMore: TakeMore,
  signal: AbortSignal,
): Promise<void> {
  const { result, lastEvents } = await work(parts, session, run, takeMore, signal);
  if (signal.aborted && signal.reason instanceof ShutdownReason) throw signal.reason;
  endRun(parts, session, run, result, lastEvents);
}

/** Runs the agent. The last step's events are handed back, to be stored together with the run's end. */
async function work(
  parts: TurnParts,
  session: LiveSession,
  run: OpenRun,
  takeMore: TakeMore,
  signal: AbortSignal,
): Promise<{ result: RunResult; lastEvents: LoopEvent[] }> {
  if (run.attempt > maxAttempts) {
    const error = {
      code: 'run_crashed',
      message: `This turn ended the program ${maxAttempts} times and was given up. Ask in another way, and see the log.`,
    };
    return { result: { stopReason: 'model_error', text: '', usage: {}, error }, lastEvents: [] };
  }
  const system = session.systemPrompt ?? systemPromptFor(parts);
  const deadline = AbortSignal.timeout(parts.config.agent.turnTimeoutSeconds * 1000);
  const agent = runAgent(
    {
      runId: run.id,
      sessionId: session.id,
      system,
      messages:
        run.attempt === 1
          ? [...session.conversation, ...toModelMessages(run.events)]
          : rebuildConversation(parts.transcript, session),
      model: parts.models.main(),
      tools: parts.tools,
      actor: actorOf(run.batch.at(-1)!.message),
      thinking: parts.config.agent.thinking,
      isTooLarge: (messages) =>
        shouldCompact(session.meter.measure({ system, tools: parts.toolSpecs, messages }), parts.config.agent),
      newInput: () => steer(parts, session, run, takeMore()),
      async compact(reason, compactSignal) {
        const report = await compactSession(parts, session, { runId: run.id, turn: run.turn }, reason, compactSignal);
        if (report.kind !== 'compacted') return undefined;
        run.isCompacted = true;
        return session.conversation;
      },
      limits: {
        maxSteps: parts.config.agent.maxSteps,
        stepsDone: run.events.filter((event) => event.type === 'assistant-message').length,
      },
    },
    {
      now: parts.now,
      checkpoint: parts.checkpoint,
      reportBug: (error) => parts.log.error({ err: error, runId: run.id }, 'tool failed unexpectedly'),
    },
    AbortSignal.any([signal, deadline]),
  );
  const lastEvents: LoopEvent[] = [];
  let deltas: [number, number][] = [];
  for (;;) {
    const next = await agent.next();
    if (next.done) return { result: next.value, lastEvents };
    const body = next.value;
    if (body.type === 'usage') session.meter.record(body.usage);
    if (body.type === 'text-delta' || body.type === 'reasoning-delta') {
      const event = session.stamp(body, { runId: run.id, turn: run.turn }, parts.now());
      if (body.type === 'text-delta') deltas.push([event.id, body.text.length]);
      session.liveDeltas.push(event);
      parts.hub.publish(event);
    } else if (body.type === 'assistant-message') {
      const message = { ...body, deltas };
      deltas = [];
      if (message.toolCalls.length === 0) lastEvents.push(message);
      else storeAndPublish(parts, session, run, message);
    } else if (lastEvents.length > 0) {
      lastEvents.push(body);
    } else {
      storeAndPublish(parts, session, run, body);
    }
  }
}

function endRun(
  parts: TurnParts,
  session: LiveSession,
  run: OpenRun,
  result: RunResult,
  lastEvents: LoopEvent[],
): void {
  const seqs = run.batch.map((queued) => queued.seq);
  const { message } = run.batch.at(-1)!;
  const firstNew = run.events.length;
  const at = parts.now();
  let messages = run.batch.length;
  parts.checkpoint('before-answer-commit');
  const answer = parts.db.transaction(() => {
    for (const body of lastEvents) store(parts, session, run, body);
    store(parts, session, run, { type: 'run-end', ...result });
    messages += run.events.filter((event) => event.type === 'assistant-message' && event.text !== '').length;
    parts.runs.end(run.id, { stopReason: result.stopReason, usage: result.usage, at });
    parts.sessions.addTurn(session.key, { turn: run.turn, messages, usage: result.usage, at });
    parts.bus.inbound.finish(seqs, run.id);
    return parts.bus.outbound.put({
      id: parts.newId('out'),
      channel: message.channel,
      chatId: message.chatId,
      body: answerFor(result, run.events, languageFor(parts, message)),
      attachments: [],
      runId: run.id,
      sessionId: session.id,
      ...(message.chatType === 'group' && { replyTo: message.messageId }),
    });
  });
  parts.checkpoint('after-answer-commit');
  session.liveDeltas = [];
  session.messageCount += messages;
  if (run.isCompacted) session.conversation = rebuildConversation(parts.transcript, session);
  else session.conversation.push(...toModelMessages(run.events));
  parts.bus.inbound.release(seqs);
  for (const event of run.events.slice(firstNew)) parts.hub.publish(event);
  parts.bus.outbound.announce(answer);
  parts.titler.afterTurn(session, () => openingOf(parts, session));
  parts.log.info({ sessionId: session.id, runId: run.id, stopReason: result.stopReason, ...result.usage }, 'turn end');
}

/** What was said first, for the title. */
function openingOf(parts: TurnParts, session: LiveSession): string {
  return parts.transcript
    .read(session, 0, 60)
    .flatMap((event) => (event.type === 'user-message' || event.type === 'assistant-message' ? [event.text] : []))
    .join('\n\n')
    .slice(0, 4000);
}

/** Adds messages to the running turn, as `startRun` did with its first ones. */
function steer(parts: TurnParts, session: LiveSession, run: OpenRun, more: QueuedMessage[]): ModelMessage[] {
  if (more.length === 0) return [];
  const firstNew = run.events.length;
  parts.db.transaction(() => {
    parts.bus.inbound.take(
      more.map((queued) => queued.seq),
      run.id,
    );
    for (const { message } of more) store(parts, session, run, userMessage(parts, message, undefined));
  });
  for (const queued of more) queued.runId = run.id;
  run.batch.push(...more);
  const added = run.events.slice(firstNew);
  for (const event of added) parts.hub.publish(event);
  return toModelMessages(added);
}

/** Appends one event within the caller's transaction; whoever commits publishes. */
function store(parts: TurnParts, session: LiveSession, run: OpenRun, body: EventBody): void {
  const event = session.stamp(body, { runId: run.id, turn: run.turn }, parts.now());
  parts.transcript.append(session.key, event);
  run.events.push(event);
}

function storeAndPublish(parts: TurnParts, session: LiveSession, run: OpenRun, body: EventBody): void {
  parts.db.transaction(() => store(parts, session, run, body));
  if (body.type === 'assistant-message') session.liveDeltas = [];
  parts.hub.publish(run.events.at(-1)!);
}

function userMessage(parts: TurnParts, message: InboundMessage, recalled: RecalledContext | undefined): EventBody {
  const sent = buildUserText({
    text: message.quoted === undefined ? message.text : `${message.quoted.replace(/^/gm, '> ')}\n\n${message.text}`,
    ...(message.chatType === 'group' && { speaker: speakerOf(message.sender) }),
    ...(recalled && { context: { now: parts.now(), timeZone: parts.timeZone, ...recalled } }),
  });
  const { messageId, text, sender, attachments } = message;
  return { type: 'user-message', messageId, text, sent, sender, attachments };
}

function speakerOf({ id, name }: InboundMessage['sender']): { id: string; name?: string } {
  return name === undefined ? { id } : { id, name };
}

/** A result for each call that has none: it was running when the process ended. */
function* interruptedCalls(events: AgentEvent[]): Generator<EventBody> {
  const finished = new Set(events.flatMap((event) => (event.type === 'tool-result' ? [event.callId] : [])));
  for (const event of events) {
    if (event.type !== 'assistant-message') continue;
    for (const call of event.toolCalls) {
      if (finished.has(call.callId)) continue;
      yield {
        type: 'tool-result',
        step: event.step,
        callId: call.callId,
        name: call.name,
        state: 'interrupted',
        output: interruptedText,
        durationMs: 0,
      };
    }
  }
}

const interruptedText =
  'The program was restarted while this call ran. It may or may not have taken effect: check before you repeat it.';

function systemPromptFor(parts: TurnParts): string {
  return buildSystemPrompt({
    ownPrompt: parts.config.agent.systemPrompt,
    tools: parts.tools.map((tool) => tool.name),
  });
}

function actorOf(message: InboundMessage): ToolContext['actor'] {
  const { channel, chatId, chatType, sender } = message;
  return { channel, chatId, chatType, userId: sender.id, role: sender.role };
}
