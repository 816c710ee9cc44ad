/** From a sentence to a tool call: a handful of patterns in English and Chinese, enough to see the machine move. */
import type { ToolSpec } from '../model.js';

export interface DemoCall {
  name: string;
  input: Record<string, unknown>;
}

type Intent = (text: string) => DemoCall | undefined;

const intents: readonly Intent[] = [remember, readFile, time, arithmetic, recall];

/** The first intent whose tool is offered. */
export function findCall(text: string, tools: readonly ToolSpec[]): DemoCall | undefined {
  for (const intent of intents) {
    const call = intent(text);
    const tool = call && tools.find(({ name }) => name === call.name);
    if (call && tool) return { name: call.name, input: fitNames(call.input, tool) };
  }
  return undefined;
}

/** What the person wants to know about themselves: "what do I like to drink?". */
export function asksAboutMemory(text: string): boolean {
  return (
    /\b(what|which|who|where|when|how)\b.*\b(my|i|me)\b|do you (remember|know)\b.*\b(my|i|me)\b/i.test(text) ||
    /我.*(什么|谁|哪|吗|几|多少)/.test(text)
  );
}

function remember(text: string): DemoCall | undefined {
  const match =
    /^(?:please\s+)?(?:remember|note|memori[sz]e)(?:\s+that|\s*[:,])?\s+(.+)$/is.exec(text) ??
    /^(?:请|帮我|请你|请帮我)?(?:记住|记一下|记下来?)[\s:：,，]*(.+)$/s.exec(text);
  const content = match?.[1]?.trim().replace(/[.。]$/, '');
  return content ? { name: 'memory_store', input: { key: keyOf(content), content } } : undefined;
}

/** The fact itself, so that two facts never overwrite each other. */
function keyOf(content: string): string {
  return [...content.toLowerCase().replace(/\s+/g, ' ')].slice(0, 60).join('').trim();
}

function recall(text: string): DemoCall | undefined {
  const match =
    /what (?:do|did) you (?:know|remember) (?:about|of)\s+(.+?)[?!.\s]*$/is.exec(text) ??
    /(?:do you )?remember (?:anything |something )?about\s+(.+?)[?!.\s]*$/is.exec(text) ??
    /关于\s*(.+?)\s*(?:你)?(?:知道|记得|了解)?(?:些|了)?(?:什么|多少|吗)?[？?。\s]*$/s.exec(text) ??
    /你(?:还)?(?:记得|记住)(?:了|过)?\s*(.+?)\s*(?:吗|么|呢)?[？?。\s]*$/s.exec(text);
  const query = match?.[1]?.trim();
  return query ? { name: 'memory_recall', input: { query } } : undefined;
}

function arithmetic(text: string): DemoCall | undefined {
  const plain = text
    .replace(/[×✕]/g, '*')
    .replace(/÷/g, '/')
    .replace(/(?<=\d\s*)[xX](?=\s*\d)/g, '*')
    .replace(/乘以?/g, '*')
    .replace(/除以/g, '/')
    .replace(/加上?/g, '+')
    .replace(/减去?/g, '-')
    .replace(/（/g, '(')
    .replace(/）/g, ')')
    .replace(/\b(times|multiplied by)\b/gi, '*')
    .replace(/\bdivided by\b/gi, '/')
    .replace(/\bplus\b/gi, '+')
    .replace(/\bminus\b/gi, '-');
  const found = plain.match(/[-(]*\d[\d\s.,()]*(?:[-+*/^%][\d\s.,()+*/^%-]*\d[\s)]*)+/)?.[0];
  const expression = found
    ?.replace(/,(?=\d{3})/g, '')
    .replace(/[,\s]+$/, '')
    .trim();
  if (!expression || /^\d{4}-\d{1,2}(-\d{1,2})?$/.test(expression)) return undefined;
  return { name: 'calculator', input: { expression } };
}

const zones: Record<string, string> = {
  tokyo: 'Asia/Tokyo',
  东京: 'Asia/Tokyo',
  beijing: 'Asia/Shanghai',
  北京: 'Asia/Shanghai',
  shanghai: 'Asia/Shanghai',
  上海: 'Asia/Shanghai',
  'hong kong': 'Asia/Hong_Kong',
  香港: 'Asia/Hong_Kong',
  singapore: 'Asia/Singapore',
  新加坡: 'Asia/Singapore',
  london: 'Europe/London',
  伦敦: 'Europe/London',
  paris: 'Europe/Paris',
  巴黎: 'Europe/Paris',
  berlin: 'Europe/Berlin',
  柏林: 'Europe/Berlin',
  'new york': 'America/New_York',
  纽约: 'America/New_York',
  'los angeles': 'America/Los_Angeles',
  洛杉矶: 'America/Los_Angeles',
  sydney: 'Australia/Sydney',
  悉尼: 'Australia/Sydney',
  utc: 'UTC',
};

function time(text: string): DemoCall | undefined {
  if (
    !/\bwhat(?:'s| is)? (?:the )?(?:current )?(?:time|date)\b|\bwhat day is\b|几点|什么时间|现在时间|今天(?:是)?(?:几号|星期几|周几)/i.test(
      text,
    )
  ) {
    return undefined;
  }
  const named = /\b[A-Z][A-Za-z]+\/[A-Z][A-Za-z_]+(?:\/[A-Z][A-Za-z_]+)?\b/.exec(text)?.[0];
  const lower = text.toLowerCase();
  const city = Object.keys(zones).find((name) => lower.includes(name));
  const place = /\bin ([\p{L} ]+?)(?: now)?[?!.\s]*$/u.exec(text)?.[1];
  const zone = named ?? (city && zones[city]) ?? place;
  return { name: 'current_time', input: zone ? { timeZone: zone } : {} };
}

function readFile(text: string): DemoCall | undefined {
  const match =
    /^(?:please\s+)?(?:read|open|show)(?: me)?(?: the)? file\s+["'`“]?(.+?)["'`”]?[.?!\s]*$/is.exec(text) ??
    /(?:读取?|打开|查看|看一?下)(?:一?下)?(?:文件)\s*["'`“]?(.+?)["'`”]?[。？?\s]*$/s.exec(text);
  const path = match?.[1]?.trim();
  return path ? { name: 'file_read', input: { path } } : undefined;
}

/** The tool's own spelling of an argument: `time_zone` for `timeZone`. */
function fitNames(input: Record<string, unknown>, tool: ToolSpec): Record<string, unknown> {
  const known = Object.keys((tool.inputSchema.properties as object | undefined) ?? {});
  const plain = (name: string) => name.toLowerCase().replaceAll('_', '');
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [known.find((key) => plain(key) === plain(name)) ?? name, value]),
  );
}
