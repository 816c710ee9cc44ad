/** Refuses what real chat-completions servers refuse. Returns the complaint, or undefined. */
import { isObjectText, validateTools } from './validate-tools.mjs';

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool']);

export function validateChat(body, rules = {}) {
  if (typeof body?.model !== 'string' || body.model === '') return 'you must provide a model parameter';
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "[] is too short - 'messages'";
  return validateMessages(body.messages, rules) ?? validateToolList(body);
}

function validateToolList({ tools, tool_choice }) {
  if (tools === undefined)
    return tool_choice === undefined ? undefined : "'tool_choice' is only allowed when 'tools' are specified.";
  if (!Array.isArray(tools) || tools.length === 0) return "[] is too short - 'tools'";
  if (tools.some((tool) => tool?.type !== 'function')) return "Invalid value: 'tools[].type' must be 'function'.";
  return validateTools(tools.map(({ function: { name, parameters } }) => ({ name, schema: parameters })));
}

function validateMessages(messages, rules) {
  /** Ids of the running tool-call message that still lack a result. */
  let open = new Set();
  for (const [index, message] of messages.entries()) {
    if (!roles.has(message?.role)) return `Invalid value: '${message?.role}' - 'messages.[${index}].role'`;
    if (rules.reasoningContent === 'refuse' && message.reasoning_content !== undefined) {
      return `Extra inputs are not permitted: messages.${index}.reasoning_content`;
    }
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) {
        return `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls' - messages.[${index}] (${message.tool_call_id})`;
      }
      if (typeof message.content !== 'string')
        return `Invalid type for 'messages[${index}].content': expected a string`;
      continue;
    }
    if (open.size > 0) return unanswered(open);
    const complaint =
      message.role === 'assistant' ? validateAssistant(message, index, rules) : validateContent(message.content, index);
    if (complaint) return complaint;
    if (message.role === 'assistant') open = new Set((message.tool_calls ?? []).map(({ id }) => id));
  }
  return open.size > 0 ? unanswered(open) : undefined;
}

function unanswered(ids) {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...ids].join(', ')}`;
}

function validateAssistant(message, index, rules) {
  const calls = message.tool_calls;
  if (calls === undefined) return validateContent(message.content, index);
  if (!Array.isArray(calls) || calls.length === 0) return `[] is too short - 'messages.${index}.tool_calls'`;
  if (rules.reasoningContent === 'demand' && typeof message.reasoning_content !== 'string') {
    return `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`;
  }
  if (message.content !== null && message.content !== undefined && message.content !== '') {
    const complaint = validateContent(message.content, index);
    if (complaint) return complaint;
  }
  const ids = new Set();
  for (const call of calls) {
    if (typeof call?.id !== 'string' || call.id === '')
      return `Missing required parameter: 'messages[${index}].tool_calls[].id'.`;
    if (ids.has(call.id)) return `Duplicate tool call id '${call.id}' in messages[${index}].`;
    ids.add(call.id);
    if (call.type !== 'function') return `Invalid value: 'messages[${index}].tool_calls[].type' must be 'function'.`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(call.function?.name ?? ''))
      return `Invalid 'messages[${index}].tool_calls[].function.name'.`;
    if (!isObjectText(call.function.arguments))
      return `'messages[${index}].tool_calls[].function.arguments' must be a JSON object as a string.`;
  }
  return undefined;
}

function validateContent(content, index) {
  if (typeof content === 'string')
    return content === '' ? `Invalid 'messages[${index}].content': empty text` : undefined;
  if (!Array.isArray(content) || content.length === 0)
    return `Invalid type for 'messages[${index}].content': expected text or parts`;
  for (const part of content) {
    if (!['text', 'image_url', 'input_audio', 'file'].includes(part?.type))
      return `Invalid value: '${part?.type}' - 'messages[${index}].content[].type'`;
    if (part.type === 'text' && (typeof part.text !== 'string' || part.text === ''))
      return `Invalid 'messages[${index}].content[].text': empty text`;
  }
  return undefined;
}
