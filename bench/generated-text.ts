/** Text with natural word frequencies for the speed benchmarks: the words of a Chinese dictionary by how often they occur, and English-like ones. */
import { createRequire } from 'node:module';

export interface TextSource {
  /** A message or memory of some sentences: two thirds Chinese, one third English or mixed. */
  text(): string;
  /** A question of a few words, some frequent and some rare. */
  question(): string;
  integer(below: number): number;
}

export function createTextSource(seed: number): TextSource {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const integer = (below: number) => Math.floor(random() * below);
  const { words, sums } = chineseWords();
  const chinese = () => {
    const at = random() * sums.at(-1)!;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return words[low]!;
  };
  const syllables = 'ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za tri sta con per'.split(' ');
  /** Rank r occurs about 1/r as often as rank 1, of 20,000 words. */
  const english = () => {
    let rank = Math.floor(20_000 ** random());
    let word = '';
    do {
      word += syllables[rank % syllables.length];
      rank = Math.floor(rank / syllables.length);
    } while (rank > 0);
    return word;
  };
  const many = (count: number, word: () => string, separator: string) =>
    Array.from({ length: count }, word).join(separator);
  const sentence = () => {
    const kind = random();
    if (kind < 0.6) return `${many(4 + integer(10), chinese, '')}。`;
    if (kind < 0.9) return `${many(5 + integer(12), english, ' ')}. `;
    return `${many(3, chinese, '')}${english()}${many(3, chinese, '')} ${integer(100_000)}。`;
  };
  return {
    integer,
    text: () => many(1 + integer(4), sentence, ''),
    question: () => (random() < 0.65 ? many(1 + integer(4), chinese, '') : many(1 + integer(4), english, ' ')),
  };
}

function chineseWords(): { words: string[]; sums: number[] } {
  const { dict } = createRequire(import.meta.url)('@node-rs/jieba/dict.js') as { dict: Buffer };
  const words: string[] = [];
  const sums: number[] = [];
  let sum = 0;
  for (const line of dict.toString('utf8').split('\n')) {
    const [word, frequency] = line.split(' ');
    if (!word || !/^\p{sc=Han}+$/u.test(word)) continue;
    sum += Number(frequency);
    words.push(word);
    sums.push(sum);
  }
  return { words, sums };
}
