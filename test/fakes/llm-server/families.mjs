/** The three wire families side by side: how each is validated, rendered, and says an error. */
import { chatAnswer, chatFrames } from './render-chat.mjs';
import { messageAnswer, messageFrames } from './render-messages.mjs';
import { responseAnswer, responseFrames } from './render-responses.mjs';
import { validateChat } from './validate-chat.mjs';
import { validateMessages } from './validate-messages.mjs';
import { validateResponses } from './validate-responses.mjs';

const openaiError = ({ message, type = 'invalid_request_error', code = null }) => ({
  error: { message, type, param: null, code },
});

export const families = {
  openai: {
    path: '/chat/completions',
    validate: validateChat,
    frames: chatFrames,
    answer: chatAnswer,
    error: openaiError,
    errorFrame: (error) => ({ data: JSON.stringify(openaiError(error)) }),
    lastUserText: (body) => textOf(body.messages?.findLast((message) => message.role === 'user')?.content),
  },
  anthropic: {
    path: '/messages',
    validate: validateMessages,
    frames: messageFrames,
    answer: messageAnswer,
    error: anthropicError,
    errorFrame: (error) => ({ event: 'error', data: JSON.stringify(anthropicError(error)) }),
    lastUserText: (body) =>
      textOf(body.messages?.findLast((message) => message.role === 'user' && textOf(message.content) !== '')?.content),
  },
  responses: {
    path: '/responses',
    validate: validateResponses,
    frames: responseFrames,
    answer: responseAnswer,
    error: openaiError,
    errorFrame: ({ message, type, code }) => ({
      event: 'error',
      data: JSON.stringify({
        type: 'error',
        sequence_number: 1,
        error: { type: type ?? 'server_error', code: code ?? null, message, param: null },
      }),
    }),
    lastUserText: (body) =>
      typeof body.input === 'string'
        ? body.input
        : textOf(body.input?.findLast((item) => item.role === 'user')?.content),
  },
};

export function familyOf(path) {
  return Object.keys(families).find((name) => path.endsWith(families[name].path));
}

function anthropicError({ message, type = 'invalid_request_error' }) {
  return { type: 'error', error: { type, message }, request_id: 'req_fake' };
}

function textOf(content) {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('');
}
