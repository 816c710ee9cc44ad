/** The built-in platforms. Adding one is adding a row; anything else is a `platforms.<id>` of the configuration. */
import type { WireFamily } from './wire-types.js';

export interface Platform {
  id: string;
  /** As people write it. */
  name: string;
  protocol: WireFamily;
  baseUrl: string;
  /** Environment variables that hold its key, the first that is set wins. Empty: it needs none. */
  keyVariables: readonly string[];
  /** What `agent.model` falls back to, and what a reference without a model means. */
  defaultModel: string;
  /** Shown in lists without asking the platform; any other model id works too. */
  models: readonly string[];
  /** Chat completions only: what is added to the body to switch thinking; without it `reasoning_effort` is sent. */
  thinking?: { on?: Record<string, unknown>; off?: Record<string, unknown> };
}

const thinkingType = { on: { thinking: { type: 'enabled' } }, off: { thinking: { type: 'disabled' } } };
const enableThinking = { on: { enable_thinking: true } };

export const platforms: readonly Platform[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    protocol: 'responses',
    baseUrl: 'https://api.openai.com/v1',
    keyVariables: ['OPENAI_API_KEY'],
    defaultModel: 'gpt-5.4-mini',
    models: ['gpt-5.4-mini', 'gpt-5.4', 'gpt-6-sol', 'gpt-6-luna'],
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    protocol: 'anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    keyVariables: ['ANTHROPIC_API_KEY'],
    defaultModel: 'claude-sonnet-5-5',
    models: ['claude-sonnet-5-5', 'claude-opus-5-5', 'claude-haiku-5-5'],
  },
  {
    id: 'deepseek',
    name: 'DeepSeek',
    protocol: 'openai',
    baseUrl: 'https://api.deepseek.com/v1',
    keyVariables: ['DEEPSEEK_API_KEY'],
    defaultModel: 'deepseek-flash',
    models: ['deepseek-flash', 'deepseek-v4-pro'],
    thinking: thinkingType,
  },
  {
    id: 'moonshot',
    name: 'Moonshot',
    protocol: 'openai',
    baseUrl: 'https://api.moonshot.cn/v1',
    keyVariables: ['MOONSHOT_API_KEY'],
    defaultModel: 'kimi-k2.6',
    models: ['kimi-k2.6', 'kimi-k3'],
    thinking: { on: thinkingType.on },
  },
  {
    id: 'qwen',
    name: 'Qwen (DashScope)',
    protocol: 'openai',
    baseUrl: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    keyVariables: ['DASHSCOPE_API_KEY', 'QWEN_API_KEY'],
    defaultModel: 'qwen-plus',
    models: ['qwen-plus', 'qwen-max', 'qwen-flash'],
    thinking: enableThinking,
  },
  {
    id: 'zhipu',
    name: 'Zhipu',
    protocol: 'openai',
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
    keyVariables: ['ZHIPU_API_KEY', 'ZHIPUAI_API_KEY'],
    defaultModel: 'glm-4.7',
    models: ['glm-4.7', 'glm-5.2', 'glm-4.7-flash'],
    thinking: thinkingType,
  },
  {
    id: 'siliconflow',
    name: 'SiliconFlow',
    protocol: 'openai',
    baseUrl: 'https://api.siliconflow.cn/v1',
    keyVariables: ['SILICONFLOW_API_KEY'],
    defaultModel: 'deepseek-ai/DeepSeek-V3.2',
    models: ['deepseek-ai/DeepSeek-V3.2', 'Qwen/Qwen3-235B-A22B-Instruct-2507'],
    thinking: enableThinking,
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    protocol: 'openai',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariables: ['OPENROUTER_API_KEY'],
    defaultModel: 'openrouter/auto',
    models: ['openrouter/auto'],
  },
  {
    id: 'gemini',
    name: 'Google Gemini',
    protocol: 'openai',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    defaultModel: 'gemini-flash-latest',
    models: ['gemini-flash-latest', 'gemini-pro-latest'],
  },
  {
    id: 'ollama',
    name: 'Ollama',
    protocol: 'openai',
    baseUrl: 'http://127.0.0.1:11434/v1',
    keyVariables: [],
    defaultModel: 'qwen3',
    models: [],
  },
];
