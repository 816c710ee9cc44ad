/** Every slash command. `/help` and the platforms' menus are made from this table. */
import type { Command } from './command.js';
import { compactCommand } from './compact.js';
import {
  archiveCommand,
  deleteCommand,
  renameCommand,
  restoreCommand,
  sessionsCommand,
  switchCommand,
} from './dialogs.js';
import { dumpCommand, memoryCommand, searchCommand, usageCommand } from './find.js';
import { helpCommand } from './help.js';
import { infoCommand } from './info.js';
import { newCommand } from './new.js';
import { stopCommand } from './stop.js';

export const commands: readonly Command[] = [
  helpCommand,
  newCommand,
  sessionsCommand,
  switchCommand,
  renameCommand,
  archiveCommand,
  deleteCommand,
  restoreCommand,
  searchCommand,
  memoryCommand,
  compactCommand,
  usageCommand,
  dumpCommand,
  infoCommand,
  stopCommand,
];
