/** One question to a model and its whole answer as text: for titles and summaries, without tools. */
import type { Model } from '../providers/model.js';

/** Throws `ProviderError`, or the abort reason. Empty when the model gave no text. */
export async function completeText(
  model: Model,
  prompt: { system: string; text: string; maxOutputTokens?: number },
  signal: AbortSignal,
): Promise<string> {
  let answer = '';
  const events = model.stream(
    {
      system: prompt.system,
      messages: [{ role: 'user', content: [{ type: 'text', text: prompt.text }] }],
      tools: [],
      thinking: 'off',
      ...(prompt.maxOutputTokens !== undefined && { maxOutputTokens: prompt.maxOutputTokens }),
    },
    signal,
  );
  for await (const event of events) if (event.type === 'text-delta') answer += event.text;
  return answer;
}
