/** Puts an exported dialog where its owner finds it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Into `{workspace}/exports`; the name is made safe, an older file of that name is replaced. Returns the relative path. */
export async function saveExport(workspace: string, name: string, content: string): Promise<string> {
  const safeName = name.replace(/[^\p{L}\p{N}._-]+/gu, '_').slice(-120);
  await mkdir(join(workspace, 'exports'), { recursive: true });
  await writeFile(join(workspace, 'exports', safeName), content);
  return `exports/${safeName}`;
}
