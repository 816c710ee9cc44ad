import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { main } from '../../src/cli/main.js';

afterEach(() => vi.restoreAllMocks());

async function help(...argv: string[]): Promise<string> {
  let text = '';
  const write = (chunk: unknown) => {
    text += chunk;
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(write);
  vi.spyOn(process.stderr, 'write').mockImplementation(write);
  expect(await main([...argv, '--help']), argv.join(' ')).toBe(0);
  return text;
}

/** Names under "Commands:", without help itself. */
const commandsIn = (text: string) =>
  [...(text.split('Commands:\n')[1] ?? '').matchAll(/^ {2}([a-z]+)/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'help');

test('every command and sub-command has help with a description', async () => {
  const top = commandsIn(await help());
  expect(top).toEqual(expect.arrayContaining(['start', 'status', 'chat', 'ask', 'sessions', 'config']));
  for (const name of top) {
    const text = await help(name);
    for (const inner of commandsIn(text)) expect(await help(name, inner)).toMatch(/^Usage: .+\n\n\S/);
  }
});

test('commands that print data take --json', async () => {
  for (const argv of [
    ['status'],
    ['ask'],
    ['chat'],
    ['sessions', 'list'],
    ['sessions', 'show'],
    ['config', 'get'],
    ['config', 'validate'],
  ]) {
    expect(await help(...argv), argv.join(' ')).toContain('--json');
  }
});

test('the start imports neither the program of all commands nor any other command', () => {
  const source = readFileSync(join(import.meta.dirname, '../../src/cli/main.ts'), 'utf8');
  expect(source.match(/^import .*/gm)).toEqual(["import { reportError } from './report-error.js';"]);
});
