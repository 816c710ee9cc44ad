/** Copies a text and says so on the button for a moment. */
import type { Texts } from '../text/texts.js';

const shownMs = 1600;

export async function copyText(text: string, button: HTMLElement, texts: Texts): Promise<void> {
  const isCopied = await copy(text);
  button.dataset.note = texts.t(isCopied ? 'copied' : 'copyFailed');
  setTimeout(() => delete button.dataset.note, shownMs);
}

async function copy(text: string): Promise<boolean> {
  if (navigator.clipboard) {
    const isDone = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    if (isDone) return true;
  }
  // Over plain HTTP in a home network browsers offer no clipboard, but still this old way.
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'hidden-text';
  document.body.append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  return isDone;
}
