/** `file_read`: text files of the workspace in pages, folders as a list, anything else described in a line. */
import type { FileHandle } from 'node:fs/promises';
import { opendir } from 'node:fs/promises';
import { z } from 'zod';
import { cleanText } from '../clean-text.js';
import { defineTool } from '../tool.js';
import { contentKind } from './content-kind.js';
import { type Opened, openInFolder } from './open-in-folder.js';
import { type Page, type PageRequest, readTextPage } from './text-page.js';

const headBytes = 8192;
const maxListed = 200;
/** Entries of a folder that are looked at before they are sorted. */
const maxScanned = 10_000;

/** `root`: the workspace; nothing outside it is ever opened. */
export function fileReadTool(options: { root: string }) {
  return defineTool({
    name: 'file_read',
    description: 'Read a text file of the workspace in pages, or list a folder ("." is the workspace).',
    input: z.strictObject({
      path: z.string().min(1).max(4096).describe('relative to the workspace'),
      first_line: z.int().optional().describe('default 1; negative counts from the end'),
      line_count: z.int().min(1).max(5000).default(500),
      offset: z.int().min(0).optional().describe('byte to go on at, as the page before said'),
    }),
    isReadOnly: true,
    async run({ path, first_line: firstLine, line_count: lineCount, offset }, { signal }) {
      const opened = await openInFolder(options.root, path);
      try {
        if (opened.kind === 'folder') return await listFolder(opened);
        return await readFile(opened, { firstLine, lineCount, offset }, signal);
      } finally {
        await opened.handle.close();
      }
    },
  });
}

async function readFile({ handle, size }: Opened, request: PageRequest, signal: AbortSignal): Promise<string> {
  if (size === 0) return '(empty file)';
  const head = await readHead(handle, Math.min(size, headBytes));
  const kind = contentKind(head, size <= headBytes);
  if (!kind.isText) return `[Not text: ${kind.description}, ${size} bytes. Its content is not shown.]`;
  const page = await readTextPage({ handle, size, ...kind }, request, signal);
  return cleanText(page.text) + notes(page, size, request).join('');
}

async function readHead(handle: FileHandle, length: number): Promise<Uint8Array> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
  return buffer.subarray(0, bytesRead);
}

function notes({ text, next, isBinary }: Page, size: number, { firstLine, offset }: PageRequest): string[] {
  const found: string[] = [];
  if (isBinary) found.push('[What stands here is binary data and is not shown.]');
  if (next) {
    const line = next.line === undefined ? '' : `first_line: ${next.line}, `;
    found.push(`[The file has ${size} bytes. Read on with ${line}offset: ${next.offset}.]`);
  } else if ((firstLine ?? 1) !== 1 || offset !== undefined) {
    found.push('[End of the file.]');
  }
  return found.map((note, index) => (index === 0 && (text === '' || text.endsWith('\n')) ? note : `\n${note}`));
}

async function listFolder({ path }: Opened): Promise<string> {
  const names: string[] = [];
  let isComplete = true;
  for await (const entry of await opendir(path)) {
    isComplete = names.length < maxScanned;
    if (!isComplete) break;
    names.push(cleanText(entry.isDirectory() ? `${entry.name}/` : entry.name));
  }
  if (names.length === 0) return '(empty folder)';
  const listed = names.sort().slice(0, maxListed);
  const rest = names.length - listed.length;
  if (rest === 0) return listed.join('\n');
  return `${listed.join('\n')}\n[${isComplete ? rest : `More than ${rest}`} more are not listed.]`;
}
