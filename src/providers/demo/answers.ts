/** What the demo model says, in the language of the person. */
import type { DemoRequest } from './read-request.js';

export function answerFor(request: DemoRequest, asksAboutMemory: boolean): string {
  const { results, isChinese, memories } = request;
  if (results.length > 0) return results.map((result) => fromResult(result, isChinese)).join('\n\n');
  if (asksAboutMemory && memories.length > 0) return fromMemories(memories, isChinese);
  return introduction(request);
}

function fromResult({ name, input, output, isError }: DemoRequest['results'][number], isChinese: boolean): string {
  const said = output.trim();
  if (isError) return isChinese ? `没有成功：${said}` : `That did not work: ${said}`;
  switch (name) {
    case 'calculator':
      return `${String(input.expression ?? '')} = ${said}`;
    case 'current_time':
      return isChinese ? `现在是 ${said}。` : `It is ${said}.`;
    case 'memory_store':
      return isChinese
        ? `记住了：${String(input.content ?? said)}。`
        : `I will remember: ${String(input.content ?? said)}.`;
    case 'memory_recall':
      return /^nothing was found|^no (memor|entr|match)|没有找到/i.test(said)
        ? isChinese
          ? '这方面我还没有记住什么。'
          : 'I remember nothing about that yet.'
        : isChinese
          ? `我记得：\n${said}`
          : `This is what I remember:\n${said}`;
    case 'file_read':
      return isChinese ? `文件内容如下：\n\n${quoted(said)}` : `The file says:\n\n${quoted(said)}`;
    default:
      return isChinese ? `工具 ${name} 的结果：${said}` : `The tool ${name} says: ${said}`;
  }
}

function quoted(text: string): string {
  const short = text.length > 1500 ? `${text.slice(0, 1500)}…` : text;
  const fence = short.includes('```') ? '~~~' : '```';
  return `${fence}\n${short}\n${fence}`;
}

function fromMemories(memories: DemoRequest['memories'], isChinese: boolean): string {
  const lines = memories.map(({ content }) => content);
  const list = lines.length === 1 ? lines[0]! : `\n${lines.map((line) => `- ${line}`).join('\n')}`;
  return isChinese ? `你告诉过我：${list}` : `You told me: ${list}`;
}

function introduction({ isChinese, isGreeting }: DemoRequest): string {
  if (isChinese) {
    return isGreeting
      ? '你好！我是 PicoBot 自带的演示模型：不联网，也不是真正的 AI，只用来让你看看整个流程。' +
          '可以试试“记住我喜欢乌龙茶”“关于茶你知道什么”“17*23等于几”“东京现在几点”。\n\n' +
          `要用真正的模型，请添加一个密钥：${howToChinese}`
      : `我只是演示模型，听不懂别的话。可以试试“记住……”“17*23等于几”“现在几点”。要用真正的模型：${howToChinese}`;
  }
  return isGreeting
    ? 'Hello! I am the demo model that comes with PicoBot: no network, no real AI, only enough to show how things work. ' +
        'Try "remember that I like oolong", "what do you know about tea", "what is 17*23" or "what time is it in Tokyo".\n\n' +
        `For a real model, add a key: ${howTo}`
    : `I am only a demo and do not understand that. Try "remember that …", "what is 17*23" or "what time is it". For a real model: ${howTo}`;
}

const howTo =
  'put a line such as `DEEPSEEK_API_KEY=…` into the file `.env` of your PicoBot folder, ' +
  'or `platforms.deepseek.apiKey` into `config.json`, and start again. The same dialog then goes on with it.';
const howToChinese =
  '在 PicoBot 目录的 `.env` 文件中加一行 `DEEPSEEK_API_KEY=…`，' +
  '或在 `config.json` 中设置 `platforms.deepseek.apiKey`，然后重新启动。之后同一个对话会继续。';
