/** Replaces a file whole: whoever reads sees the old text or the new one, also after a kill or on a full disk. */
import {
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Keeps mode and owner of the old file; a new one is for its owner only. Follows a link. Throws the system's error. */
export function writeFileAtomic(path: string, text: string): void {
  const file = existing(path);
  const old = statSync(file, { throwIfNoEntry: false });
  const temporary = `${file}.${process.pid}.tmp`;
  // Left over by a killed process that had the same id.
  rmSync(temporary, { force: true });
  try {
    const descriptor = openSync(temporary, 'wx', old ? old.mode & 0o777 : 0o600);
    try {
      if (old && process.getuid?.() === 0) chownSync(temporary, old.uid, old.gid);
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(file));
}

function existing(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Without it a power cut may undo the rename. Not every system can. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, 'r');
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return;
  }
}
