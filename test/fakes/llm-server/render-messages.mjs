/** One step as an Anthropic message: events of a stream, or one JSON answer. */
import { argumentsOf } from './render-chat.mjs';
import { signatureOf } from './signatures.mjs';

const pieces = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

export function messageUsage({ input, output, cached }) {
  return {
    input_tokens: input - (cached ?? 0),
    ...(cached !== undefined && { cache_read_input_tokens: cached }),
    output_tokens: output,
  };
}

function stopReason(step) {
  if (step.finish !== undefined) return step.finish;
  return step.calls?.length ? 'tool_use' : 'end_turn';
}

export function messageFrames(step, { id, model, quirks, usage }) {
  const counts = usage && quirks.usage !== 'none' ? messageUsage(usage) : undefined;
  const events = [
    {
      type: 'message_start',
      message: {
        id,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        ...(counts && { usage: { ...counts, output_tokens: 1 } }),
      },
    },
    { type: 'ping' },
  ];
  if (quirks.unknownEvents) events.push({ type: 'vendor_progress', percent: 10 });
  let index = 0;
  const block = (start, deltas) => {
    events.push({ type: 'content_block_start', index, content_block: start });
    for (const delta of deltas) {
      events.push({ type: 'content_block_delta', index, delta });
      if (quirks.usage === 'every-frame' && counts)
        events.push({ type: 'message_delta', delta: {}, usage: { output_tokens: 1 } });
    }
    events.push({ type: 'content_block_stop', index });
    if (quirks.toolCalls?.index !== 'shared') index++;
  };
  const thoughts = pieces(step.reasoning);
  if (thoughts.length > 0) {
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...thoughts.map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: signatureOf(thoughts.join('')) },
    ]);
  }
  const texts = pieces(step.text);
  if (texts.length > 0)
    block(
      { type: 'text', text: '' },
      texts.map((text) => ({ type: 'text_delta', text })),
    );
  for (const call of step.calls ?? []) {
    const isObject = quirks.toolCalls?.arguments === 'object';
    const text = argumentsOf(call);
    const middle = Math.ceil(text.length / 2);
    const parts = isObject ? [] : ['', text.slice(0, middle), text.slice(middle)];
    block(
      { type: 'tool_use', id: call.id, name: call.name, input: isObject ? (call.input ?? {}) : {} },
      parts.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    );
  }
  const reason = stopReason(step);
  if (reason !== null) {
    events.push({
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null },
      ...(counts && { usage: quirks.usage === 'every-frame' ? counts : { output_tokens: counts.output_tokens } }),
    });
    if (!quirks.noDone) events.push({ type: 'message_stop' });
  }
  return events.map((event) => ({ ...(!quirks.noEventLines && { event: event.type }), data: JSON.stringify(event) }));
}

export function messageAnswer(step, { id, model, quirks, usage }) {
  const thinking = pieces(step.reasoning).join('');
  const text = pieces(step.text).join('');
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(thinking === '' ? [] : [{ type: 'thinking', thinking, signature: signatureOf(thinking) }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...(step.calls ?? []).map((call) => ({
        type: 'tool_use',
        id: call.id,
        name: call.name,
        input: call.input ?? {},
      })),
    ],
    stop_reason: stopReason(step),
    stop_sequence: null,
    ...(usage && quirks.usage !== 'none' && { usage: messageUsage(usage) }),
  };
}
