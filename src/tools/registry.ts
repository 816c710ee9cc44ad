/** The tools of one run: names checked, order as given, so that every request lists them alike. */
import type { Tool } from './tool.js';

export interface ToolRegistry {
  find(name: string): Tool | undefined;
  names(): string[];
  /** In the order of registration; the same array each time. */
  specs(): Pick<Tool, 'name' | 'description' | 'inputSchema'>[];
}

/** Throws an `Error` for a name that a model cannot call or that is taken: both are mistakes of ours. */
export function createToolRegistry(tools: readonly Tool[]): ToolRegistry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (!/^[a-z][a-z0-9_]{0,63}$/.test(tool.name)) {
      throw new Error(`Tool name "${tool.name}" must be a-z, 0-9 and _, start with a letter, at most 64 characters.`);
    }
    if (byName.has(tool.name)) throw new Error(`Two tools are called "${tool.name}".`);
    byName.set(tool.name, tool);
  }
  const specs = [...byName.values()].map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return {
    find: (name) => byName.get(name),
    names: () => [...byName.keys()],
    specs: () => specs,
  };
}
