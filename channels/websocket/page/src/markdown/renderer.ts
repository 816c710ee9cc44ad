/**
 * Markdown of a model to safe HTML. Raw HTML is shown as the text it is, apart from a few harmless tags;
 * DOMPurify then lets through only what this renderer itself can make.
 */
import createPurifier, { type Config, type WindowLike } from 'dompurify';
import { Marked, Renderer, type Token, type TokensList } from 'marked';

export interface MarkdownRenderer {
  /** The blocks of a text; `raw` of all of them together is the text. */
  lex(text: string): TokensList;
  /** Safe HTML of some blocks, as `lex` gave them. */
  render(tokens: Token[]): string;
}

const inlineHtml = /^<(?:br|hr)\s*\/?>$|^<\/?(?:sub|sup|kbd|mark|u)>$/i;
const safeUrl = /^(?:https?:\/\/|mailto:|tel:)/i;
const classes = /^(?:code|table|language-[\w+#.-]+)$/;

const policy: Config = {
  ALLOWED_TAGS: [
    ...['p', 'br', 'hr', 'strong', 'em', 'del', 'u', 'mark', 'sub', 'sup', 'kbd', 'code', 'pre', 'blockquote'],
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'a', 'img', 'input', 'div', 'figure', 'figcaption'],
    ...['span', 'button', 'table', 'thead', 'tbody', 'tr', 'th', 'td', '#text'],
  ],
  ALLOWED_ATTR: ['href', 'src', 'alt', 'title', 'class', 'start', 'align', 'type', 'checked', 'disabled'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** `copyLabel`: the text on the button of a code block; clicks on `.code button` are the page's to handle. */
export function createMarkdownRenderer(window: WindowLike, copyLabel: string): MarkdownRenderer {
  const purifier = createPurifier(window);
  purifier.addHook('uponSanitizeAttribute', (_element, attribute) => {
    if (attribute.attrName === 'class' && !classes.test(attribute.attrValue)) attribute.keepAttr = false;
    if (attribute.attrName === 'href' && !safeUrl.test(attribute.attrValue)) attribute.keepAttr = false;
    if (attribute.attrName === 'src' && !/^data:image\/(?:png|jpeg|gif|webp);/i.test(attribute.attrValue)) {
      attribute.keepAttr = false;
    }
  });
  purifier.addHook('afterSanitizeAttributes', (element) => {
    if (element.tagName !== 'A' || !element.hasAttribute('href')) return;
    element.setAttribute('target', '_blank');
    element.setAttribute('rel', 'noopener noreferrer');
  });

  const marked = new Marked({
    gfm: true,
    breaks: true,
    renderer: {
      html: ({ text }) => (inlineHtml.test(text.trim()) ? text : escapeHtml(text)),
      code({ text, lang }) {
        const language = /^[\w+#.-]+/.exec(lang ?? '')?.[0] ?? '';
        const label = `<span>${escapeHtml(language)}</span><button type="button">${escapeHtml(copyLabel)}</button>`;
        const body = `<pre><code class="language-${language || 'text'}">${escapeHtml(text)}</code></pre>`;
        return `<figure class="code"><figcaption>${label}</figcaption>${body}</figure>`;
      },
      table(token) {
        return `<div class="table">${Renderer.prototype.table.call(this, token)}</div>`;
      },
      // A picture from elsewhere would tell that place who reads this, and when: it becomes a link.
      image({ href, text, title }) {
        if (/^data:/i.test(href)) return `<img src="${escapeHtml(href)}" alt="${escapeHtml(text)}">`;
        return `<a href="${escapeHtml(href)}"${title ? ` title="${escapeHtml(title)}"` : ''}>${escapeHtml(text || href)}</a>`;
      },
    },
  });

  return {
    lex: (text) => marked.lexer(text.replace(/\r\n?/g, '\n')),
    render: (tokens) => purifier.sanitize(marked.parser(tokens), policy),
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
