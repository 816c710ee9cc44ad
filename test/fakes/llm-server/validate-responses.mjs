/** Refuses what OpenAI's responses API refuses. Returns the complaint, or undefined. */
import { encryptedOf } from './signatures.mjs';
import { isObjectText, validateTools } from './validate-tools.mjs';

const roles = new Set(['system', 'developer', 'user', 'assistant']);
const textTypes = new Set(['input_text', 'output_text']);

export function validateResponses(body) {
  if (typeof body?.model !== 'string' || body.model === '') return "Missing required parameter: 'model'.";
  const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
  if (!Array.isArray(input) || input.length === 0) return "Missing required parameter: 'input'.";
  const tools = body.tools?.map(({ name, parameters }) => ({ name, schema: parameters }));
  return validateInput(input, body.store !== false) ?? (tools && validateTools(tools));
}

function validateInput(input, isStored) {
  const calls = new Set();
  const answered = new Set();
  for (const [index, item] of input.entries()) {
    const complaint = validateItem(item, index, { calls, answered, next: input[index + 1], isStored });
    if (complaint) return complaint;
  }
  const missing = [...calls].find((id) => !answered.has(id));
  return missing === undefined ? undefined : `No tool output found for function call ${missing}.`;
}

function validateItem(item, index, { calls, answered, next, isStored }) {
  const type = item?.type ?? 'message';
  switch (type) {
    case 'message': {
      if (!roles.has(item?.role)) return `Invalid value: '${item?.role}' - 'input[${index}].role'`;
      const parts = typeof item.content === 'string' ? [{ type: 'input_text', text: item.content }] : item.content;
      if (!Array.isArray(parts) || parts.length === 0) return `Invalid 'input[${index}].content': empty array`;
      const isEmpty = parts.some((part) => textTypes.has(part.type) && !part.text);
      return isEmpty ? `Invalid 'input[${index}].content': empty text` : undefined;
    }
    case 'function_call':
      if (typeof item.call_id !== 'string' || item.call_id === '' || item.call_id.length > 64)
        return `Invalid 'input[${index}].call_id': string of 1 to 64 characters expected.`;
      if (calls.has(item.call_id)) return `Duplicate function call with call_id ${item.call_id}.`;
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(item.name ?? '')) return `Invalid 'input[${index}].name'.`;
      if (!isObjectText(item.arguments))
        return `Invalid 'input[${index}].arguments': a JSON object as a string is expected.`;
      calls.add(item.call_id);
      return undefined;
    case 'function_call_output':
      if (!calls.has(item.call_id)) return `No tool call found for function call output with call_id ${item.call_id}.`;
      if (answered.has(item.call_id)) return `Duplicate output for function call ${item.call_id}.`;
      answered.add(item.call_id);
      return undefined;
    case 'reasoning': {
      const summary = (item.summary ?? []).map((part) => part.text).join('');
      if (item.encrypted_content === undefined || item.encrypted_content === null) {
        return isStored
          ? undefined
          : `Item with id '${item.id}' not found. Items are not persisted when 'store' is set to false.`;
      }
      if (item.encrypted_content !== encryptedOf(item.id, summary))
        return `The encrypted content for item ${item.id} could not be verified.`;
      const isFollowed =
        next !== undefined && (['function_call', 'reasoning'].includes(next.type) || next.role === 'assistant');
      return isFollowed
        ? undefined
        : `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
    }
    case 'item_reference':
      return `Item with id '${item.id}' not found.`;
    default:
      return `Invalid value: '${type}' - 'input[${index}].type'`;
  }
}
