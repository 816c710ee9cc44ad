import { execFileSync } from 'node:child_process';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { say, scriptedModel } from '../fakes/scripted-model.js';
import { startDaemon } from '../harness/daemon.js';
import { tempDir } from '../temp-dir.js';

const canMount = process.platform === 'linux' && process.getuid?.() === 0 && tryMount();
if (!canMount) console.warn('NOTICE: the full-disk tests are skipped: mounting a small tmpfs needs root on Linux.');

test.skipIf(!canMount)(
  'on a full disk a message is refused with a code; what was accepted is answered once there is space',
  async () => {
    const workspace = smallDisk();
    let free = () => {};
    const gate = new Promise<void>((resolve) => {
      free = resolve;
    });
    const model = scriptedModel(async (_request, number) => {
      if (number === 1) await gate;
      return say(`answer ${number}`);
    });
    const daemon = await startDaemon({ model, workspace });
    await daemon.channel.say('accepted while there was space');
    await model.called(1);

    const filler = fill(workspace);
    await expect(daemon.channel.say('too late', { chatId: 'other' })).rejects.toMatchObject({ code: 'disk_full' });
    free();
    const end = await daemon.event((event) => event.type === 'run-end');
    expect(end).toMatchObject({ error: { code: 'disk_full' } });
    expect(daemon.channel.sent).toEqual([]);

    rmSync(filler);
    expect((await daemon.channel.nextSent()).body).toMatch(/^answer \d+$/);
    await daemon.channel.say('works again', { chatId: 'other' });
    expect((await daemon.channel.nextSent()).body).toMatch(/^answer \d+$/);
    expect(daemon.channel.sent).toHaveLength(2);
  },
);

function tryMount(): boolean {
  try {
    const folder = mkdir();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    rmSync(folder, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

function mkdir(): string {
  return execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim();
}

/** 4 MB, unmounted when the test is over. */
function smallDisk(): string {
  const folder = tempDir();
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', folder]);
  });
  return folder;
}

/** Writes until nothing more fits. */
function fill(folder: string): string {
  const file = join(folder, 'filler');
  const handle = openSync(file, 'w');
  const block = Buffer.alloc(4096);
  try {
    for (;;) writeSync(handle, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(handle);
  }
  return file;
}
