/**
 * Opens what lies inside a folder and nothing else: no `..`, no link that leads out, no pipe, no device.
 * The check is repeated on what was really opened, since a link can change between a look and an open.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { ToolError } from '../tool.js';

export interface Opened {
  handle: FileHandle;
  kind: 'file' | 'folder';
  /** In bytes; 0 for a folder. */
  size: number;
  /** A path to the very thing that is open. */
  path: string;
}

/** `path` is relative to `root`, or absolute inside it. Throws `ToolError`; the caller closes the handle. */
export async function openInFolder(root: string, path: string): Promise<Opened> {
  let handle: FileHandle | undefined;
  try {
    const realRoot = await realpath(root);
    const target = await realpath(join(root, partInside(path, [root, realRoot])));
    requireInside(target, realRoot, path);
    // Before the open: opening alone can already have an effect on a device.
    kindOf(await stat(target), path);
    const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0, O_NOCTTY = 0 } = constants;
    handle = await open(target, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    const status = await handle.stat();
    const kind = kindOf(status, path);
    const opened = await openedPath(handle, target, status);
    requireInside(opened.real, realRoot, path);
    return { handle, kind, size: kind === 'file' ? status.size : 0, path: opened.path };
  } catch (error) {
    await handle?.close();
    throw asToolError(error, path);
  }
}

function partInside(path: string, roots: string[]): string {
  if (path.includes('\0') || path.split(/[\\/]/).includes('..')) throw outside(path);
  if (!isAbsolute(path)) return path;
  const root = roots.find((candidate) => isInside(path, candidate));
  if (root === undefined) throw outside(path);
  return relative(root, path);
}

/** Where the handle really leads, asked of the system where it can tell. */
async function openedPath(
  handle: FileHandle,
  target: string,
  status: { dev: number; ino: number },
): Promise<{ real: string; path: string }> {
  if (process.platform === 'linux') {
    const path = `/proc/self/fd/${handle.fd}`;
    return { real: await readlink(path), path };
  }
  const real = await realpath(target);
  const { dev, ino } = await stat(real);
  if (dev !== status.dev || ino !== status.ino) throw new ToolError('The file changed while it was opened; try again.');
  return { real, path: real };
}

function requireInside(real: string, realRoot: string, path: string): void {
  if (!isInside(real, realRoot)) throw outside(path);
}

function isInside(path: string, root: string): boolean {
  const part = relative(root, path);
  return part === '' || (part !== '..' && !part.startsWith(`..${sep}`) && !isAbsolute(part));
}

function kindOf(status: { isFile(): boolean; isDirectory(): boolean }, path: string): Opened['kind'] {
  if (status.isFile()) return 'file';
  if (status.isDirectory()) return 'folder';
  throw new ToolError(`${shown(path)} is a device, a pipe or a socket, not a file.`);
}

function outside(path: string): ToolError {
  return new ToolError(`${shown(path)} is outside the workspace. Give a path inside it, without "..".`);
}

function asToolError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof ToolError || !('code' in error)) return error;
  const { code } = error;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new ToolError(`There is no ${shown(path)} in the workspace. Reading a folder, such as ".", lists it.`, {
      cause: error,
    });
  }
  return new ToolError(`${shown(path)} cannot be read (${String(code)}).`, { cause: error });
}

function shown(path: string): string {
  return JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
}
