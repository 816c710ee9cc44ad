/** A finished text and a growing one, as Markdown. */
import type { Token } from 'marked';

import { useMemo } from 'preact/hooks';
import { useServices } from '../services.js';
import { memo } from '../view/memo.js';
import { createGrowingText } from './growing-text.js';

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  const { markdown } = useServices();
  const html = useMemo(() => markdown.render(markdown.lex(text)), [markdown, text]);
  return <Html html={html} className="markdown" />;
});

/** `isGrowing`: shows a caret at its end. */
export function GrowingMarkdown({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  const { markdown } = useServices();
  const growing = useMemo(() => createGrowingText((part) => markdown.lex(part)), [markdown]);
  return (
    <div class={isGrowing ? 'markdown growing' : 'markdown'} dir="auto">
      {growing.update(text).map((block) => (
        <MarkdownBlock key={block.key} raw={block.raw} token={block.token} />
      ))}
    </div>
  );
}

const MarkdownBlock = memo(
  function MarkdownBlock({ token }: { raw: string; token: Token }) {
    const { markdown } = useServices();
    if (token.type === 'space') return null;
    return <Html html={markdown.render([token])} className="block" />;
  },
  (before, after) => before.raw === after.raw && before.token.type === after.token.type,
);

function Html({ html, className }: { html: string; className: string }) {
  // The renderer's output has been through DOMPurify.
  return <div class={className} dir="auto" dangerouslySetInnerHTML={{ __html: html }} />;
}
