import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importScript, repository } from './import-script.js';

type Breach = { file: string; line: number; rule: string };
const { checkFloors } = await importScript<{ checkFloors(root: string): Breach[] }>('check-floors.mjs');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'picobot floors '));
  mkdirSync(join(root, 'src'));
  mkdirSync(join(root, 'channels'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function breaches(files: Record<string, string>): string[] {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return checkFloors(root).map(({ file, line, rule }) => `${file}:${line}: ${rule}`);
}

test('the sources of this repository keep the rule', () => {
  expect(checkFloors(repository)).toEqual([]);
});

test.each([
  ['an import', "import { x } from '../session/x.js';"],
  ['a type import', "import type { x } from '../session/x.js';"],
  ['an export', "export * from '../session/x.js';"],
  ['a dynamic import', "const x = await import('../session/x.js');"],
  ['an import in a type', "type X = import('../session/x.js').X;"],
])('%s that climbs is named with file, line and floors', (_name, text) => {
  expect(breaches({ 'src/agent/loop.ts': `\n${text}` })).toEqual([
    'src/agent/loop.ts:2: src/agent must not import src/session: that climbs from floor 3 to floor 4',
  ]);
});

test('what goes down, stays in the room, or names a package is fine', () => {
  expect(
    breaches({
      'src/agent/loop.ts':
        "import '../tools/tool.js'; import './deep/x.js'; import 'zod'; import '../protocol/ids.js';",
      'src/agent/deep/x.ts': "import '../loop.js'; import '../../providers/model.js';",
      'src/bus/bus.ts': "import '../storage/database.js';",
      'channels/channel.ts': "import '../src/gateway/http-host.js';",
      'channels/http/http.ts': "import '../channel.js'; import '../../src/gateway/http-host.js';",
    }),
  ).toEqual([]);
});

test.each([
  ['src/tools/x.ts', '../providers/model.js', 'rooms of one floor'],
  ['src/agent/x.ts', '../storage/database.js', 'must not know it'],
  ['src/providers/x.ts', '../bus/bus.js', 'must not know it'],
  ['src/cli/x.ts', '../storage/database.js', 'may know'],
  ['src/gateway/x.ts', '../session/x.js', 'may know'],
  ['channels/http/x.ts', '../telegram/x.js', 'channels/http must not import channels/telegram'],
  ['channels/http/x.ts', '../../src/session/x.js', 'may know'],
  ['channels/http/x.ts', '../../src/gateway/gateway.js', 'may know'],
  ['channels/websocket/page/src/x.ts', '../../websocket.js', 'may know'],
  ['src/protocol/x.ts', '../config/schema.js', 'must not know it'],
  ['src/novelty/x.ts', '../protocol/ids.js', 'give it one'],
])('%s must not import %s', (file, specifier, rule) => {
  expect(breaches({ [file]: `import '${specifier}';` })).toEqual([expect.stringContaining(rule)]);
});

test('process.env is for src/config, console for the command line, comments and texts do not count', () => {
  const found = breaches({
    'src/config/x.ts': 'process.env.HOME;',
    'src/cli/x.ts': "console.log('hello');",
    'src/agent/quiet.ts': "// process.env and console.log\nconst text = 'process.env console.log';",
    'src/agent/loud.ts': "console.log(1);\nprocess.env['HOME'];\nprocess['env'];",
    'src/agent/sly.ts': "import { env } from 'node:process';",
    'src/agent/slyer.ts': 'const { pid, env } = process;\nconst { argv } = process;',
  });
  expect(found.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'src/agent/loud.ts:1: no',
    'src/agent/loud.ts:2: process.env',
    'src/agent/loud.ts:3: process.env',
    'src/agent/sly.ts:1: use',
    'src/agent/slyer.ts:1: process.env',
  ]);
});
