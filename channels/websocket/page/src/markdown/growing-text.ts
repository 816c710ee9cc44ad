/** Blocks of a text that grows at its end: what is settled is neither read nor drawn again. */
import type { Token } from 'marked';

export interface Block {
  /** Stays with the block while the text grows. */
  key: number;
  raw: string;
  token: Token;
}

export interface GrowingText {
  /** The blocks of `text`. When it does not continue the text of the call before, everything starts anew. */
  update(text: string): readonly Block[];
}

/** The newest blocks may still change with what follows: a list goes on, a table gets its rows. */
const unsettledBlocks = 3;

export function createGrowingText(lex: (text: string) => Token[]): GrowingText {
  let settled: Block[] = [];
  let settledText = '';
  return {
    update(text) {
      if (!text.startsWith(settledText)) {
        settled = [];
        settledText = '';
      }
      const open = lex(text.slice(settledText.length)).map((token, index) => ({
        key: settled.length + index,
        raw: token.raw,
        token,
      }));
      const blocks = [...settled, ...open];
      for (const block of open.slice(0, -unsettledBlocks)) {
        const next = settledText + block.raw;
        if (!text.startsWith(next)) break;
        settled = [...settled, block];
        settledText = next;
      }
      return blocks;
    },
  };
}
