/** The bar over the conversation: the list's button, the dialog's title, the theme. */
import { useEffect, useState } from 'preact/hooks';
import { usePage, useServices } from '../services.js';
import { currentTheme, onThemeChange, toggleTheme } from '../theme.js';
import { ConnectionPill } from './connection-pill.js';
import { MenuIcon, MoonIcon, NewIcon, SunIcon } from './icons.js';

export function Header({ isListOpen, openList }: { isListOpen: boolean; openList(): void }) {
  const { chat, texts } = useServices();
  const title = usePage((state) => state.currentSummary?.title ?? '');
  const [theme, setTheme] = useState(currentTheme());
  useEffect(() => onThemeChange(() => setTheme(currentTheme())), []);
  useEffect(() => {
    document.title = title ? `${title} – PicoBot` : 'PicoBot';
  }, [title]);
  const themeLabel = texts.t(theme === 'dark' ? 'themeToLight' : 'themeToDark');
  return (
    <header class="header">
      <button
        type="button"
        class="icon-button drawer-only"
        aria-label={texts.t('openDialogs')}
        aria-expanded={isListOpen}
        aria-controls="dialogs"
        onClick={openList}
      >
        <MenuIcon />
      </button>
      <h1 class="header-title" dir="auto">
        {title || texts.t('untitled')}
      </h1>
      <span class="drawer-only">
        <ConnectionPill />
      </span>
      <button
        type="button"
        class="icon-button"
        aria-label={themeLabel}
        title={themeLabel}
        onClick={() => setTheme(toggleTheme())}
      >
        {theme === 'dark' ? <SunIcon /> : <MoonIcon />}
      </button>
      <button
        type="button"
        class="icon-button drawer-only"
        aria-label={texts.t('newDialog')}
        onClick={() => void chat.dialogs.create()}
      >
        <NewIcon />
      </button>
    </header>
  );
}
