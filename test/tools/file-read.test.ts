import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileReadTool } from '../../src/tools/file-read/file-read.js';
import { ToolError } from '../../src/tools/tool.js';
import { context } from './tool-context.js';

let home: string;
let root: string;

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'picobot-file-read-')));
  root = join(home, 'workspace');
  await mkdir(root);
  await writeFile(join(home, 'secret.txt'), 'SECRET');
});

afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

async function read(path: string, options: Record<string, unknown> = {}): Promise<string> {
  const tool = fileReadTool({ root });
  return tool.run(tool.input.parse({ path, ...options }), context);
}

const put = (name: string, content: string | Uint8Array) => writeFile(join(root, name), content);

/** Follows the notes from page to page; the text without them. `separator`: what stands between text and note. */
async function readAll(
  path: string,
  separator: '' | '\n',
): Promise<{ text: string; longest: number; lines: number[] }> {
  const pages: string[] = [];
  const lines: number[] = [];
  for (let options: Record<string, unknown> | undefined = {}; options; ) {
    const page = await read(path, { line_count: 5000, ...options });
    const note =
      /(\n?)\[(?:The file has \d+ bytes\. Read on with first_line: (\d+), offset: (\d+)|End of the file)\.\]$/.exec(
        page,
      );
    if (!note) throw new Error('A page without a note.');
    const [whole, newline, line, offset] = note;
    pages.push(page.slice(0, -whole.length) + (separator === '' ? newline : ''));
    if (line) lines.push(Number(line));
    options = offset ? { first_line: Number(line), offset: Number(offset) } : undefined;
  }
  return { text: pages.join(''), longest: Math.max(...pages.map((page) => page.length)), lines };
}

describe('text', () => {
  test('a small file comes as it is', async () => {
    await put('a.txt', 'one\r\ntwo\n');
    expect(await read('a.txt')).toBe('one\r\ntwo\n');
    expect(await read('./a.txt')).toBe('one\r\ntwo\n');
    expect(await read(join(root, 'a.txt'))).toBe('one\r\ntwo\n');
  });

  test('lines count from 1', async () => {
    await put('a.txt', Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`).join(''));
    expect(await read('a.txt', { first_line: 3, line_count: 2 })).toBe(
      'line 3\nline 4\n[The file has 71 bytes. Read on with first_line: 5, offset: 28.]',
    );
    expect(await read('a.txt', { first_line: 5, offset: 28, line_count: 1 })).toMatch(
      /^line 5\n\[.*first_line: 6, offset: 35/,
    );
    expect(await read('a.txt', { first_line: 10 })).toBe('line 10\n[End of the file.]');
    expect(await read('a.txt', { line_count: 10 })).not.toContain('[');
    await expect(read('a.txt', { first_line: 11 })).rejects.toThrow('The file has 10 lines only.');
    await expect(read('a.txt', { first_line: 99 })).rejects.toThrow('The file has 10 lines only.');
    await expect(read('a.txt', { first_line: 0 })).rejects.toThrow('count from 1');
    await expect(read('a.txt', { offset: 72 })).rejects.toThrow('past the end');
  });

  test('a last line without a newline is a line', async () => {
    await put('a.txt', 'one\ntwo');
    expect(await read('a.txt', { first_line: 2 })).toBe('two\n[End of the file.]');
    await expect(read('a.txt', { first_line: 3 })).rejects.toThrow('The file has 2 lines only.');
    await put('b.txt', 'one');
    await expect(read('b.txt', { first_line: 2 })).rejects.toThrow('The file has 1 line only.');
  });

  test('negative lines count from the end', async () => {
    await put('a.txt', 'one\ntwo\nthree\n');
    await put('b.txt', 'one\ntwo\nthree');
    expect(await read('a.txt', { first_line: -1 })).toBe('three\n[End of the file.]');
    expect(await read('b.txt', { first_line: -2 })).toBe('two\nthree\n[End of the file.]');
    expect(await read('a.txt', { first_line: -99 })).toBe('one\ntwo\nthree\n[End of the file.]');
    expect(await read('a.txt', { first_line: -3, line_count: 1 })).toBe(
      'one\n[The file has 14 bytes. Read on with offset: 4.]',
    );
  });

  test('pages of a long file fit together, none is too long', async () => {
    const content = Array.from({ length: 30_000 }, (_, index) => `第 ${index + 1} 行 😀\n`).join('');
    await put('a.txt', content);
    const { text, longest, lines } = await readAll('a.txt', '');
    expect(text).toBe(content);
    expect(longest).toBeLessThan(50_000);
    for (const line of lines) {
      expect(await read('a.txt', { first_line: line, line_count: 1 })).toMatch(new RegExp(`^第 ${line} 行`));
    }
    expect(lines.length).toBeGreaterThan(10);
  });

  test.each([0, 1, 2, 3])('one huge line is cut at whole characters (shifted by %i)', async (shift) => {
    const content = 'x'.repeat(shift) + '汉😀é'.repeat(30_000);
    await put('a.json', content);
    const { text, longest, lines } = await readAll('a.json', '\n');
    expect(text).toBe(content);
    expect(longest).toBeLessThan(50_000);
    expect(new Set(lines)).toEqual(new Set([1]));
  });

  test('an offset inside a character moves on to the next one', async () => {
    await put('a.txt', '汉字');
    expect(await read('a.txt', { offset: 1 })).toBe('字\n[End of the file.]');
  });

  test.each([
    ['utf-16le', Buffer.from([0xff, 0xfe])],
    ['utf-16be', Buffer.from([0xfe, 0xff])],
  ] as const)('%s is read as text', async (encoding, mark) => {
    // Ċ (U+010A) and ਀ (U+0A00) hold the byte of a newline.
    const content = Array.from({ length: 9000 }, (_, index) => `Ċ 行 ${index + 1} \u0a00😀\n`).join('');
    const bytes = Buffer.from(content, 'utf16le');
    await put('a.txt', Buffer.concat([mark, encoding === 'utf-16be' ? bytes.swap16() : bytes]));
    expect(await read('a.txt', { first_line: 2, line_count: 1 })).toMatch(/^Ċ 行 2 \u0a00😀\n\[/);
    expect(await read('a.txt', { first_line: -1 })).toBe('Ċ 行 9000 \u0a00😀\n[End of the file.]');
    expect((await readAll('a.txt', '')).text).toBe(content);
    const oneLine = '😀'.repeat(50_000);
    const lineBytes = Buffer.from(oneLine, 'utf16le');
    await put(
      'b.txt',
      Buffer.concat([
        mark,
        Buffer.from(encoding === 'utf-16be' ? [0, 120] : [120, 0]),
        encoding === 'utf-16be' ? lineBytes.swap16() : lineBytes,
      ]),
    );
    expect((await readAll('b.txt', '\n')).text).toBe(`x${oneLine}`);
  });

  test('the byte order mark of UTF-8 is not part of the text', async () => {
    await put('a.txt', '\ufeffone\ntwo\n');
    expect(await read('a.txt')).toBe('one\ntwo\n');
  });

  test('empty files and folders say so', async () => {
    await put('empty.txt', '');
    await mkdir(join(root, 'folder'));
    expect(await read('empty.txt')).toBe('(empty file)');
    expect(await read('folder')).toBe('(empty folder)');
  });

  test('a stray byte does not make a text unreadable, and is replaced', async () => {
    await put('a.log', Buffer.from(`${'line\n'.repeat(5000)}caf\xe9 \0 end\n`, 'latin1'));
    expect(await read('a.log', { first_line: -1 })).toBe('caf\ufffd \ufffd end\n[End of the file.]');
  });
});

describe('what is not text', () => {
  test.each([
    ['picture.png', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1'), 'a PNG picture, 16 bytes'],
    ['paper.pdf', Buffer.from('%PDF-1.7\n1 0 obj\n'), 'a PDF document'],
    ['data.db', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(100, 1)]), 'an SQLite database'],
    ['noise.bin', Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 167) % 256)), 'binary data'],
    ['zeros', Buffer.alloc(5000), 'binary data'],
    ['gbk.txt', Buffer.from('c4e3bac3cac0bde7', 'hex'), 'text that is neither UTF-8 nor UTF-16'],
  ])('%s is described, not dumped', async (name, bytes, description) => {
    await put(name, bytes);
    const text = await read(name);
    expect(text).toContain(description);
    expect(text.length).toBeLessThan(120);
    expect(await read(name, { offset: 3 })).toBe(text);
  });

  test('binary data behind a text is not dumped either', async () => {
    await put('installer.sh', Buffer.concat([Buffer.from('#!/bin/sh\n'.repeat(2000)), Buffer.alloc(50_000, 3)]));
    expect(await read('installer.sh', { offset: 20_000 })).toMatch(/^\[What stands here is binary data/);
  });
});

describe('nothing outside the workspace', () => {
  const refused = async (path: string, reason: RegExp) => {
    const outcome = read(path);
    await expect(outcome).rejects.toThrow(reason);
    await expect(outcome).rejects.toBeInstanceOf(ToolError);
    await expect(outcome).rejects.not.toThrow('SECRET');
  };

  test('.. and absolute paths', async () => {
    await mkdir(join(root, 'folder'));
    const paths = [
      '..',
      '../secret.txt',
      'folder/../../secret.txt',
      'folder/../folder',
      '..\\secret.txt',
      join(home, 'secret.txt'),
      '/etc/passwd',
      `${root}-other/x`,
      'a\0b',
    ];
    for (const path of paths) await refused(path, /outside the workspace/);
    await put('..notes', 'fine');
    expect(await read('..notes')).toBe('fine');
  });

  test('links that lead outside, as the file and as a folder on the way', async () => {
    await symlink(join(home, 'secret.txt'), join(root, 'link'));
    await symlink('../secret.txt', join(root, 'relative-link'));
    await symlink(home, join(root, 'home'));
    await symlink('link', join(root, 'link-to-link'));
    for (const path of ['link', 'relative-link', 'home', 'home/secret.txt', 'link-to-link']) {
      await refused(path, /outside the workspace/);
    }
  });

  test('links that stay inside work, broken and circular ones are refused', async () => {
    await mkdir(join(root, 'folder'));
    await put('folder/a.txt', 'inside');
    await symlink('folder', join(root, 'other'));
    await symlink('folder/a.txt', join(root, 'link'));
    expect(await read('other/a.txt')).toBe('inside');
    expect(await read('link')).toBe('inside');
    await symlink('nowhere', join(root, 'broken'));
    await symlink('circle', join(root, 'circle'));
    await refused('broken', /There is no "broken"/);
    await refused('circle', /ELOOP/);
  });

  test('a workspace that is itself a link', async () => {
    await put('a.txt', 'inside');
    await symlink(root, join(home, 'short'));
    const tool = fileReadTool({ root: join(home, 'short') });
    for (const path of ['a.txt', join(home, 'short', 'a.txt'), join(root, 'a.txt')]) {
      expect(await tool.run(tool.input.parse({ path }), context)).toBe('inside');
    }
  });

  test('a folder that is swapped for a link while it is opened never shows what is outside', async () => {
    const stop = new Int32Array(new SharedArrayBuffer(4));
    await mkdir(join(home, 'outside'));
    await writeFile(join(home, 'outside', 'a.txt'), 'SECRET');
    await mkdir(join(root, 'folder'));
    await put('folder/a.txt', 'inside');
    const swapping = new Worker(
      `const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
       const { outside, folder, aside, stop } = require('node:worker_threads').workerData;
       while (Atomics.load(stop, 0) === 0) {
         renameSync(folder, aside);
         symlinkSync(outside, folder);
         unlinkSync(folder);
         renameSync(aside, folder);
       }`,
      {
        eval: true,
        workerData: {
          outside: join(home, 'outside'),
          folder: join(root, 'folder'),
          aside: join(root, 'aside'),
          stop,
        },
      },
    );
    const texts = new Set<string>();
    for (let round = 0; round < 1000; round += 1) {
      texts.add(await read('folder/a.txt').catch((error: Error) => error.message));
    }
    Atomics.store(stop, 0, 1);
    await once(swapping, 'exit');
    expect([...texts].filter((text) => text.includes('SECRET'))).toEqual([]);
    expect(texts.size).toBeGreaterThan(1);
  });
});

describe('what is not a file', () => {
  test('a pipe nobody writes to does not hold the run', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await expect(read('pipe')).rejects.toThrow('"pipe" is a device, a pipe or a socket, not a file.');
  });

  test('a socket and a device', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, 'socket'), resolve));
    await expect(read('socket')).rejects.toThrow('not a file');
    await new Promise((resolve) => server.close(resolve));
    // The device belongs to the workspace here, so that only its kind refuses it.
    const tool = fileReadTool({ root: '/dev' });
    await expect(tool.run(tool.input.parse({ path: 'zero' }), context)).rejects.toThrow('not a file');
  });

  test('a folder is listed, folders marked, long ones cut', async () => {
    await mkdir(join(root, 'docs'));
    await put('b.txt', '');
    await put('a.txt', '');
    expect(await read('.')).toBe('a.txt\nb.txt\ndocs/');
    await Promise.all(Array.from({ length: 300 }, (_, index) => put(`docs/${1000 + index}`, '')));
    const listing = await read('docs');
    expect(listing.split('\n')).toHaveLength(201);
    expect(listing).toMatch(/^1000\n1001\n/);
    expect(listing).toMatch(/\[100 more are not listed\.\]$/);
  });

  test('a name that is not there, a file used as a folder, a name too long', async () => {
    await put('a.txt', 'x');
    await expect(read('b.txt')).rejects.toThrow('There is no "b.txt" in the workspace.');
    await expect(read('a.txt/b')).rejects.toThrow('There is no "a.txt/b"');
    await expect(read('x'.repeat(300))).rejects.toThrow('ENAMETOOLONG');
  });
});

describe('huge files', () => {
  /** Text at both ends, nothing on the disk between them. */
  async function hugeFile(bytes: number): Promise<void> {
    const handle = await open(join(root, 'huge.log'), 'w');
    await handle.write('first line\n'.repeat(2000), 0);
    await handle.write(`\n${'last line\n'.repeat(2000)}`, bytes);
    await handle.close();
  }

  test('head and tail of 100 GB are read at once, and little memory is used', async () => {
    await hugeFile(100 * 1024 ** 3);
    const before = process.memoryUsage().rss;
    expect(await read('huge.log', { line_count: 2 })).toMatch(/^first line\nfirst line\n\[The file has 107374202/);
    expect(await read('huge.log', { first_line: -2 })).toBe('last line\nlast line\n[End of the file.]');
    expect(await read('huge.log', { offset: 100 * 1024 ** 3 + 1, line_count: 1 })).toMatch(/^last line\n\[/);
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 ** 2);
  });

  test('a line behind the first 256 MiB is not searched for', async () => {
    await hugeFile(100 * 1024 ** 3);
    await expect(read('huge.log', { first_line: 2002 })).rejects.toThrow('beyond the first 256 MiB');
  });

  test('a search for a line ends when the run is stopped', async () => {
    await hugeFile(1024 ** 3);
    const tool = fileReadTool({ root });
    const controller = new AbortController();
    const reading = tool.run(tool.input.parse({ path: 'huge.log', first_line: 2002 }), {
      ...context,
      signal: controller.signal,
    });
    setImmediate(() => controller.abort());
    await expect(reading).rejects.toThrow(/abort/i);
  });

  test.skipIf(process.platform !== 'linux')('no file stays open', async () => {
    const openFiles = async () => (await readdir('/proc/self/fd')).length;
    await put('a.txt', 'x');
    await symlink(join(home, 'secret.txt'), join(root, 'link'));
    await read('a.txt');
    const before = await openFiles();
    for (let round = 0; round < 20; round += 1) {
      await read('a.txt');
      await read('.');
      await read('a.txt', { first_line: 5 }).catch(() => {});
      await read('link').catch(() => {});
    }
    expect(await openFiles()).toBeLessThanOrEqual(before);
  });
});
