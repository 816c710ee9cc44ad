/**
 * Our one Markdown dialect (CommonMark, tables, strikethrough, task lists) as a tree; each channel renders it in its own way.
 * HTML and `<…>` links are ordinary text: what a model writes between angle brackets must stay visible.
 */
import type { Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmStrikethroughFromMarkdown } from 'mdast-util-gfm-strikethrough';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTaskListItemFromMarkdown } from 'mdast-util-gfm-task-list-item';
// With these, bold and strikethrough work beside Chinese punctuation without spaces.
import { cjkFriendlyExtension } from 'micromark-extension-cjk-friendly';
import { gfmStrikethroughCjkFriendly } from 'micromark-extension-cjk-friendly-gfm-strikethrough';
import { gfmTable } from 'micromark-extension-gfm-table';
import { gfmTaskListItem } from 'micromark-extension-gfm-task-list-item';

export function parseMarkdown(text: string): Root {
  return fromMarkdown(text, {
    extensions: [
      gfmTable(),
      gfmTaskListItem(),
      cjkFriendlyExtension(),
      gfmStrikethroughCjkFriendly(),
      { disable: { null: ['autolink', 'htmlFlow', 'htmlText', 'codeIndented'] } },
    ],
    mdastExtensions: [gfmTableFromMarkdown(), gfmTaskListItemFromMarkdown(), gfmStrikethroughFromMarkdown()],
  });
}
