/**
 * The program of the segmenter's child process. It goes there as source text (no file to find, whether bundled or not),
 * so the function must not use anything from outside itself.
 */

export type ToSegmenter = { id: number; runs: string[] };
export type FromSegmenter = { ready: true } | { failed: string } | { id: number; words: string[][] };

export interface EngineModules {
  name: 'nodejieba' | '@node-rs/jieba';
  /** Absolute path of the module, and of the dictionary module where that is one of its own. */
  module: string;
  dictionary?: string;
}

/** The argument of `node -e`. */
export function segmenterSource(modules: EngineModules): string {
  return `(${program.toString()})(require, process, ${JSON.stringify(modules)})`;
}

function program(require: (path: string) => unknown, process: NodeJS.Process, modules: EngineModules): void {
  const send = (message: FromSegmenter) => process.send?.(message);
  // However the parent ends, this ends with it.
  process.on('disconnect', () => process.exit(0));
  const load = (): ((run: string) => string[]) => {
    if (modules.name === 'nodejieba') {
      const engine = require(modules.module) as {
        load(): void;
        cutForSearch(text: string, withModel: boolean): string[];
      };
      engine.load();
      return (run) => engine.cutForSearch(run, true);
    }
    const { Jieba } = require(modules.module) as {
      Jieba: { withDict(dictionary: Uint8Array): { cutForSearch(text: string, withModel: boolean): string[] } };
    };
    const engine = Jieba.withDict((require(modules.dictionary!) as { dict: Uint8Array }).dict);
    return (run) => engine.cutForSearch(run, true);
  };
  try {
    const cut = load();
    cut('先把词典读完');
    process.on('message', ({ id, runs }: ToSegmenter) => send({ id, words: runs.map(cut) }));
    send({ ready: true });
  } catch (error) {
    send({ failed: String(error) });
  }
}
