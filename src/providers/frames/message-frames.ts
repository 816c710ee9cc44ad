/** Anthropic messages: unknown events are left out, missing token counts do not break the stream. */
import { type Frame, type FrameRules, isObject } from './frame-rules.js';

const known = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
]);
const passing = /^data: ?\{"type": ?"(content_block_(start|delta|stop)|ping)"/;

export function messageFrameRules(): FrameRules {
  let hasReason = false;
  let hasStopped = false;
  return {
    passes: (line) => passing.test(line),
    rewrite(frame) {
      if (typeof frame.type !== 'string' || !known.has(frame.type)) return undefined;
      if (frame.type === 'message_start') {
        const message = isObject(frame.message) ? frame.message : {};
        // Prefilled content is a feature of server tools that we do not use, and some servers send null parts there.
        return { ...frame, message: { ...message, content: [], usage: withCount(message.usage, 'input_tokens') } };
      }
      if (frame.type === 'message_delta') {
        const delta = isObject(frame.delta) ? frame.delta : {};
        hasReason ||= typeof delta.stop_reason === 'string';
        return { ...frame, delta, usage: withCount(frame.usage, 'output_tokens') };
      }
      hasStopped ||= frame.type === 'message_stop';
      return frame;
    },
    // The SDK waits for the last event, but what it says was said before.
    end: () => (hasReason && !hasStopped ? [{ type: 'message_stop' }] : []),
    fromAnswer(answer) {
      if (!Array.isArray(answer.content)) return undefined;
      const { content, stop_reason, usage, ...message } = rewriteAnswer(answer);
      return [
        { type: 'message_start', message: { ...message, content: [], usage } },
        ...(content as unknown[]).flatMap((block, index) => blockFrames(block, index)),
        { type: 'message_delta', delta: { stop_reason }, usage },
        { type: 'message_stop' },
      ];
    },
    rewriteAnswer,
  };
}

function rewriteAnswer(answer: Frame): Frame {
  return { ...answer, usage: withCount(withCount(answer.usage, 'input_tokens'), 'output_tokens') };
}

/** The SDK insists on numbers; 0 input tokens are read as "not said" later. */
function withCount(usage: unknown, name: string): Frame {
  const counts = isObject(usage) ? usage : {};
  return typeof counts[name] === 'number' ? counts : { ...counts, [name]: 0 };
}

function blockFrames(block: unknown, index: number): Frame[] {
  if (!isObject(block)) return [];
  const stop = { type: 'content_block_stop', index };
  const delta = (value: Frame) => ({ type: 'content_block_delta', index, delta: value });
  if (block.type === 'text') {
    return [
      { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
      delta({ type: 'text_delta', text: block.text }),
      stop,
    ];
  }
  if (block.type === 'thinking') {
    return [
      { type: 'content_block_start', index, content_block: { type: 'thinking', thinking: '' } },
      delta({ type: 'thinking_delta', thinking: block.thinking }),
      ...(block.signature === undefined ? [] : [delta({ type: 'signature_delta', signature: block.signature })]),
      stop,
    ];
  }
  return [{ type: 'content_block_start', index, content_block: block }, stop];
}
