/** One step as a chat completion: frames of a stream, or one JSON answer. */

const pieces = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);

export function chatUsage(usage) {
  const { input, output, cached, reasoning } = usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached !== undefined && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

export function chatFrames(step, { id, model, created, quirks, usage }) {
  const head = { id, object: 'chat.completion.chunk', created, model };
  const frame = (delta, finish = null) => ({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
  const frames = [];
  if (quirks.emptyChoices) frames.push({ ...head, choices: [] }, { ...head, choices: null });
  frames.push(frame({ role: 'assistant', content: '' }));
  const reasoningField = quirks.reasoningField ?? 'reasoning_content';
  for (const text of pieces(step.reasoning)) frames.push(frame({ [reasoningField]: text }));
  for (const text of pieces(step.text)) frames.push(frame({ content: text }));
  for (const delta of callDeltas(step.calls ?? [], quirks.toolCalls ?? {})) frames.push(frame({ tool_calls: [delta] }));
  const finish = step.finish === undefined ? (step.calls?.length ? 'tool_calls' : 'stop') : step.finish;
  if (finish !== null) frames.push(frame({}, finish));
  if (usage && quirks.usage === 'every-frame') {
    for (const [index, entry] of frames.entries()) {
      const share = (index + 1) / frames.length;
      entry.usage = chatUsage({ ...usage, output: Math.ceil(usage.output * share) });
    }
  } else if (usage && quirks.usage === 'last') frames.at(-1).usage = chatUsage(usage);
  else if (usage && quirks.usage !== 'none') frames.push({ ...head, choices: [], usage: chatUsage(usage) });
  if (quirks.emptyChoices) frames.push({ ...head, choices: [] });
  const list = frames.map((data) => ({ data: JSON.stringify(data) }));
  return quirks.noDone ? list : [...list, { data: '[DONE]' }];
}

/** Interleaved where there are several calls, as real servers may do; quirks change indices, ids and arguments. */
function callDeltas(calls, { index = 'own', ids = 'first', arguments: style = 'fragments' }) {
  return calls.flatMap((call, position) => {
    const text = argumentsOf(call);
    const middle = Math.ceil(text.length / 2);
    const parts = {
      fragments: ['', text.slice(0, middle), text.slice(middle)],
      whole: [text],
      cumulative: ['', text.slice(0, middle), text, text],
      object: [call.input ?? {}],
    }[style];
    return parts.map((part, number) => {
      const isFirst = number === 0;
      const isNamed = isFirst || ids === 'every' || style === 'cumulative';
      return {
        ...(index !== 'none' && { index: index === 'shared' ? 0 : position }),
        ...(ids === 'none' ? {} : isNamed ? { id: ids === 'same' ? 'call_same' : call.id } : {}),
        ...(isFirst && { type: 'function' }),
        function: { ...(isNamed && { name: call.name }), arguments: part },
        ...(isFirst && call.signature && { extra_content: { google: { thought_signature: call.signature } } }),
      };
    });
  });
}

export function argumentsOf(call) {
  return call.rawArguments ?? JSON.stringify(call.input ?? {});
}

export function chatAnswer(step, { id, model, created, quirks, usage }) {
  const { index: _index, ids, arguments: style } = quirks.toolCalls ?? {};
  const calls = (step.calls ?? []).map((call) => ({
    ...(ids !== 'none' && { id: ids === 'same' ? 'call_same' : call.id }),
    type: 'function',
    function: { name: call.name, arguments: style === 'object' ? (call.input ?? {}) : argumentsOf(call) },
    ...(call.signature && { extra_content: { google: { thought_signature: call.signature } } }),
  }));
  const text = pieces(step.text).join('');
  const reasoning = pieces(step.reasoning).join('');
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(reasoning !== '' && { [quirks.reasoningField ?? 'reasoning_content']: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const finish = step.finish === undefined ? (calls.length > 0 ? 'tool_calls' : 'stop') : step.finish;
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message, finish_reason: finish }],
    ...(usage && quirks.usage !== 'none' && { usage: chatUsage(usage) }),
  };
}
