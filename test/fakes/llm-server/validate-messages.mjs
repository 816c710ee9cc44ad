/** Refuses what Anthropic's messages API refuses. Returns the complaint, or undefined. */
import { signatureOf } from './signatures.mjs';
import { validateTools } from './validate-tools.mjs';

const blockRoles = {
  text: ['user', 'assistant'],
  image: ['user'],
  document: ['user'],
  tool_result: ['user'],
  tool_use: ['assistant'],
  thinking: ['assistant'],
  redacted_thinking: ['assistant'],
};

export function validateMessages(body, rules = {}) {
  if (typeof body?.model !== 'string' || body.model === '') return 'model: Field required';
  if (!Number.isInteger(body.max_tokens) || body.max_tokens < 1) return 'max_tokens: Field required';
  if (!Array.isArray(body.messages) || body.messages.length === 0) return 'messages: at least one message is required';
  return (
    validateSystem(body.system) ??
    validateConversation(body.messages, rules, body.thinking?.type === 'enabled') ??
    validateThinking(body) ??
    validateCacheMarks(body) ??
    (body.tools === undefined
      ? body.tool_choice === undefined
        ? undefined
        : 'tool_choice: may only be specified while providing tools'
      : validateTools(body.tools.map(({ name, input_schema }) => ({ name, schema: input_schema }))))
  );
}

function validateSystem(system) {
  if (system === undefined || typeof system === 'string')
    return system === '' ? 'system: text content blocks must be non-empty' : undefined;
  const isFine = Array.isArray(system) && system.every((block) => block?.type === 'text' && isText(block.text));
  return isFine ? undefined : 'system: text content blocks must be non-empty';
}

function validateConversation(messages, rules, isThinking) {
  const merged = [];
  for (const [index, message] of messages.entries()) {
    if (message?.role !== 'user' && message?.role !== 'assistant')
      return `messages.${index}.role: Input should be 'user' or 'assistant'`;
    const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
    if (!Array.isArray(blocks) || blocks.length === 0)
      return `messages.${index}: all messages must have non-empty content`;
    const complaint = validateBlocks(blocks, message.role, index, rules);
    if (complaint) return complaint;
    const last = merged.at(-1);
    if (last?.role === message.role) last.blocks.push(...blocks);
    else merged.push({ role: message.role, blocks: [...blocks] });
  }
  if (merged[0].role !== 'user') return 'messages: first message must use the "user" role';
  if (merged.at(-1).role !== 'user')
    return 'This model does not support assistant message prefill. The conversation must end with a user message.';
  return validatePairs(merged) ?? (isThinking ? validateRunningTurn(merged) : undefined);
}

function validateBlocks(blocks, role, index, rules) {
  for (const [position, block] of blocks.entries()) {
    const place = `messages.${index}.content.${position}`;
    if (!blockRoles[block?.type]?.includes(role))
      return `${place}: '${block?.type}' blocks are not allowed in '${role}' messages`;
    if (block.type === 'text' && !isText(block.text))
      return `${place}: text content blocks must contain non-whitespace text`;
    if (block.type === 'tool_use') {
      if (!/^[a-zA-Z0-9_-]+$/.test(block.id ?? ''))
        return `${place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(block.name ?? ''))
        return `${place}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
      if (typeof block.input !== 'object' || block.input === null || Array.isArray(block.input))
        return `${place}.tool_use.input: Input should be a valid dictionary`;
    }
    if (block.type === 'tool_result' && Array.isArray(block.content)) {
      if (block.content.some((part) => part.type === 'text' && !isText(part.text)))
        return `${place}.tool_result: text content blocks must be non-empty`;
    }
    if (block.type === 'thinking' && rules.signatures !== false) {
      if (!block.signature) return `${place}.thinking.signature: Field required`;
      if (block.signature !== signatureOf(block.thinking))
        return `${place}: Invalid \`signature\` in \`thinking\` block`;
    }
  }
  return undefined;
}

function validatePairs(merged) {
  const seen = new Set();
  for (const [index, { role, blocks }] of merged.entries()) {
    const calls = blocks.filter((block) => block.type === 'tool_use').map(({ id }) => id);
    const results = blocks.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id);
    for (const id of calls) {
      if (seen.has(id)) return `messages.${index}: \`tool_use\` ids must be unique: ${id}`;
      seen.add(id);
    }
    if (role === 'user') {
      const asked = new Set(merged[index - 1]?.blocks.filter((block) => block.type === 'tool_use').map(({ id }) => id));
      const unasked = results.find((id) => !asked.has(id));
      if (unasked !== undefined)
        return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unasked}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
      if (new Set(results).size !== results.length) return `messages.${index}: each tool_use must have a single result`;
      const firstOther = blocks.findIndex((block) => block.type !== 'tool_result');
      if (firstOther !== -1 && blocks.slice(firstOther).some((block) => block.type === 'tool_result'))
        return `messages.${index}: \`tool_result\` blocks must come first`;
      const missing = [...asked].filter((id) => !results.includes(id));
      if (missing.length > 0)
        return `messages.${index - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}.`;
    }
  }
  return undefined;
}

/** With thinking on, the tool calls of the running turn must begin with their thinking. */
function validateRunningTurn(merged) {
  for (let index = merged.length - 1; index >= 0; index--) {
    const { role, blocks } = merged[index];
    if (role === 'user') {
      if (blocks.every((block) => block.type !== 'tool_result')) return undefined;
    } else if (!blocks[0].type.endsWith('thinking')) {
      return `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${blocks[0].type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`;
    }
  }
  return undefined;
}

function validateThinking({ thinking, max_tokens }) {
  if (thinking?.type !== 'enabled') return undefined;
  if (!(thinking.budget_tokens >= 1024))
    return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024';
  return thinking.budget_tokens < max_tokens
    ? undefined
    : '`max_tokens` must be greater than `thinking.budget_tokens`.';
}

function validateCacheMarks(body) {
  const marks = JSON.stringify(body).match(/"cache_control":/g)?.length ?? 0;
  return marks > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.` : undefined;
}

function isText(text) {
  return typeof text === 'string' && text.trim() !== '';
}
