/**
 * Puts streamed tool calls together whatever the platform does with indices, ids and arguments: indices that are
 * shared or missing, ids that are missing or repeated, names sent again, whole arguments sent again in every delta.
 */
import { newId } from '../../protocol/ids.js';
import { isObject } from './frame-rules.js';

export interface WireToolCall {
  index: number;
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
  extra_content?: unknown;
}

interface OpenCall {
  index: number | undefined;
  wireId: string | undefined;
  name: string;
  pieces: string[];
  extra: unknown;
}

export interface ToolCallAssembler {
  readonly isEmpty: boolean;
  add(deltas: unknown): void;
  /** The calls in the order of their beginning, each with an id of its own. */
  finish(): WireToolCall[];
}

/** `isWhole`: every entry is a call of its own, as in an answer that was not streamed. */
export function createToolCallAssembler({ isWhole = false } = {}): ToolCallAssembler {
  const calls: OpenCall[] = [];

  function addOne(delta: unknown): void {
    if (!isObject(delta)) return;
    const body = isObject(delta.function) ? delta.function : {};
    const index = typeof delta.index === 'number' ? delta.index : undefined;
    const wireId = typeof delta.id === 'string' && delta.id !== '' ? delta.id : undefined;
    const name = typeof body.name === 'string' ? body.name : '';
    const piece = argumentText(body.arguments);
    let call = isWhole ? undefined : findCall(calls, { index, wireId, name, piece });
    if (!call) {
      call = { index, wireId, name: '', pieces: [], extra: undefined };
      calls.push(call);
    }
    call.wireId ??= wireId;
    call.index ??= index;
    if (name !== '' && call.name !== name)
      call.name = call.name === '' || name.startsWith(call.name) ? name : call.name + name;
    if (piece !== '') call.pieces.push(piece);
    call.extra ??= delta.extra_content;
  }

  return {
    get isEmpty() {
      return calls.length === 0;
    },
    add(deltas) {
      if (Array.isArray(deltas)) for (const delta of deltas) addOne(delta);
    },
    finish() {
      const taken = new Set<string>();
      return calls.map(({ wireId, name, pieces, extra }, index) => ({
        index,
        id: uniqueId(wireId ?? newId('call'), taken),
        type: 'function',
        function: { name, arguments: joinPieces(pieces) },
        ...(extra !== undefined && { extra_content: extra }),
      }));
    },
  };
}

function findCall(
  calls: OpenCall[],
  delta: { index: number | undefined; wireId: string | undefined; name: string; piece: string },
): OpenCall | undefined {
  const { index, wireId, name, piece } = delta;
  if (wireId !== undefined) {
    const call = calls.findLast((open) => open.wireId === wireId && (index === undefined || open.index === index));
    if (call) return isAnotherCall(call, name, piece) ? undefined : call;
    const open = callAt(calls, index);
    // A beginning has a name; without one it is a continuation under an id made up anew.
    if (name === '') return open;
    // The id may come after the first delta of its call.
    const isUnnamedYet = open?.wireId === undefined && index !== undefined;
    return open && isUnnamedYet && !isAnotherCall(open, name, piece) ? open : undefined;
  }
  const call = callAt(calls, index);
  if (!call) return undefined;
  // Without id and index a name is all that marks a beginning.
  if (index === undefined && name !== '' && call.pieces.length > 0 && isJson(joinPieces(call.pieces))) return undefined;
  return isAnotherCall(call, name, piece) ? undefined : call;
}

function callAt(calls: OpenCall[], index: number | undefined): OpenCall | undefined {
  return index === undefined ? calls.at(-1) : calls.findLast((open) => open.index === index);
}

/** A second call under the same id or index: another name, or complete arguments after complete ones. */
function isAnotherCall(call: OpenCall, name: string, piece: string): boolean {
  if (name === '' || call.name === '') return false;
  const soFar = joinPieces(call.pieces);
  if (name !== call.name) return soFar !== '' && isJson(soFar);
  return piece !== '' && !piece.startsWith(soFar) && isJson(soFar) && isJson(piece);
}

/** Pieces glued together; or the last one alone where each delta repeats all that came before. */
function joinPieces(pieces: string[]): string {
  const glued = pieces.join('');
  if (pieces.length < 2 || isJson(glued)) return glued;
  const last = pieces.at(-1)!;
  const repeats = pieces.every((piece, index) => index === 0 || piece.startsWith(pieces[index - 1]!));
  if (repeats) return last;
  // `{}` as a placeholder before the real arguments.
  if (pieces[0] === '{}') return joinPieces(pieces.slice(1));
  return glued;
}

function argumentText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function uniqueId(id: string, taken: Set<string>): string {
  let unique = id;
  for (let number = 2; taken.has(unique); number++) unique = `${id}_${number}`;
  taken.add(unique);
  return unique;
}
