/** Joins tokens, segmenter and user dictionary into the one way of cutting that index and query share. */
import type { Dictionary } from './dictionary.js';
import type { Segmenter } from './segmenter.js';
import { needsDictionary, pairsOf, partsOf, type TextParts } from './tokens.js';

export interface CutText {
  /** Words of scripts with spaces. */
  words: string[];
  /** Words of the runs; without a segmenter only those of the user's dictionary. */
  runWords: string[];
  runs: string[];
}

export interface Cutter {
  /** Pairs of characters have to do; no waiting. */
  cutPlainly(text: string): CutText;
  /**
   * `cutBy` is null where no dictionary was needed. Undefined: no segmenter now. `wait` false never waits for its loading.
   */
  cut(
    texts: readonly string[],
    options: { wait: boolean },
  ): Promise<{ texts: CutText[]; cutBy: (string | null)[] } | undefined>;
  /** What text with Chinese in it has to be cut by to be up to date; undefined when no engine works. */
  current(): string | undefined;
}

export function createCutter(segmenter: Segmenter, dictionary: Dictionary): Cutter {
  const named = (engine: string) => {
    const version = dictionary.version();
    return version === '' ? engine : `${engine} +${version}`;
  };
  const withWords = ({ words, runs }: TextParts, segmented: string[]): CutText => ({
    words,
    runs,
    runWords: [
      ...segmented,
      ...runs.flatMap((run) => dictionary.wordsIn(run).filter((word) => !segmented.includes(word))),
    ],
  });
  return {
    cutPlainly(text) {
      dictionary.version();
      return withWords(partsOf(text), []);
    },
    async cut(texts, { wait }) {
      const parts = texts.map(partsOf);
      const runs = [...new Set(parts.flatMap((part) => part.runs.filter(needsDictionary)))];
      const cut = runs.length === 0 ? { words: [], engine: '' } : await segmenter.cut(runs, { wait });
      if (!cut) return undefined;
      const wordsOf = new Map(runs.map((run, index) => [run, cut.words[index]!]));
      const cutBy = named(cut.engine);
      return {
        texts: parts.map((part) =>
          withWords(
            part,
            part.runs.flatMap((run) => wordsOf.get(run) ?? [run]),
          ),
        ),
        cutBy: parts.map((part) => (part.runs.some(needsDictionary) ? cutBy : null)),
      };
    },
    current() {
      const engine = segmenter.engine();
      return engine === undefined ? undefined : named(engine);
    },
  };
}

export function pairsOfRuns(runs: readonly string[]): string[] {
  return runs.flatMap(pairsOf);
}
