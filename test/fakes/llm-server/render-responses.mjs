/** One step as an OpenAI response: events of a stream, or one JSON answer. */
import { argumentsOf } from './render-chat.mjs';
import { encryptedOf } from './signatures.mjs';

const pieces = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

export function responseUsage({ input, output, cached, reasoning }) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: input + output,
  };
}

function outputItems(step, { id, quirks }) {
  const items = [];
  const summary = pieces(step.reasoning).join('');
  if (summary !== '') {
    const reasoningId = `rs_${id}`;
    items.push({
      type: 'reasoning',
      id: reasoningId,
      summary: [{ type: 'summary_text', text: summary }],
      encrypted_content: encryptedOf(reasoningId, summary),
    });
  }
  const text = pieces(step.text).join('');
  if (text !== '') {
    const content = [{ type: 'output_text', text, annotations: [] }];
    items.push({ type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content });
  }
  for (const [index, call] of (step.calls ?? []).entries()) {
    items.push({
      type: 'function_call',
      id: `fc_${id}_${index}`,
      call_id: call.id,
      name: call.name,
      arguments: quirks.toolCalls?.arguments === 'object' ? (call.input ?? {}) : argumentsOf(call),
      status: 'completed',
    });
  }
  return items;
}

function response(step, context, output) {
  const { id, model, created, usage, quirks } = context;
  const reason = step.finish === undefined || step.finish === null ? undefined : step.finish;
  return {
    id,
    object: 'response',
    created_at: created,
    model,
    status: reason ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: reason ? { reason } : null,
    output,
    ...(usage && quirks.usage !== 'none' && { usage: responseUsage(usage) }),
  };
}

export function responseFrames(step, context) {
  const { id, model, created, quirks } = context;
  const events = [
    {
      type: 'response.created',
      response: { id, object: 'response', created_at: created, model, status: 'in_progress', error: null },
    },
  ];
  if (quirks.unknownEvents) events.push({ type: 'response.vendor_progress', percent: 10 });
  const items = outputItems(step, context);
  for (const [position, item] of items.entries()) {
    const output_index = quirks.toolCalls?.index === 'shared' ? 0 : position;
    const place = { item_id: item.id, output_index };
    events.push({ type: 'response.output_item.added', output_index, item: opened(item) });
    if (item.type === 'reasoning') {
      events.push({
        type: 'response.reasoning_summary_part.added',
        ...place,
        summary_index: 0,
        part: { type: 'summary_text', text: '' },
      });
      for (const delta of pieces(step.reasoning))
        events.push({ type: 'response.reasoning_summary_text.delta', ...place, summary_index: 0, delta });
      events.push({ type: 'response.reasoning_summary_part.done', ...place, summary_index: 0, part: item.summary[0] });
    } else if (item.type === 'message') {
      events.push({
        type: 'response.content_part.added',
        ...place,
        content_index: 0,
        part: { type: 'output_text', text: '', annotations: [] },
      });
      for (const delta of pieces(step.text))
        events.push({ type: 'response.output_text.delta', ...place, content_index: 0, delta, logprobs: [] });
    } else if (typeof item.arguments === 'string') {
      events.push({ type: 'response.function_call_arguments.delta', ...place, delta: item.arguments });
      events.push({ type: 'response.function_call_arguments.done', ...place, arguments: item.arguments });
    }
    events.push({ type: 'response.output_item.done', output_index, item });
  }
  if (step.finish !== null) {
    const isCut = step.finish !== undefined;
    events.push({
      type: isCut ? 'response.incomplete' : 'response.completed',
      response: response(step, context, items),
    });
  }
  return events.map((event, index) => ({
    ...(!quirks.noEventLines && { event: event.type }),
    data: JSON.stringify({ ...event, sequence_number: index }),
  }));
}

function opened(item) {
  if (item.type === 'reasoning') return { ...item, summary: [], encrypted_content: null };
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] };
  return { ...item, status: 'in_progress', arguments: typeof item.arguments === 'string' ? '' : item.arguments };
}

export function responseAnswer(step, context) {
  return response(step, context, outputItems(step, context));
}
