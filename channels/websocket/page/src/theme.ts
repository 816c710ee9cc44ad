/** Dark or light: the system's, unless the person chose the other one here. `public/theme.js` applies it before the first paint. */

export type Theme = 'dark' | 'light';

const storageKey = 'picobot.theme';
const systemQuery = '(prefers-color-scheme: dark)';

export function currentTheme(): Theme {
  const chosen = document.documentElement.dataset.theme;
  return chosen === 'dark' || chosen === 'light' ? chosen : systemTheme();
}

/** Changes to the other theme. Choosing what the system has follows the system again. */
export function toggleTheme(): Theme {
  const theme = currentTheme() === 'dark' ? 'light' : 'dark';
  const followsSystem = theme === systemTheme();
  if (followsSystem) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (followsSystem) localStorage.removeItem(storageKey);
    else localStorage.setItem(storageKey, theme);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
  return theme;
}

export function onThemeChange(listener: () => void): () => void {
  const system = window.matchMedia(systemQuery);
  system.addEventListener('change', listener);
  return () => system.removeEventListener('change', listener);
}

function systemTheme(): Theme {
  return window.matchMedia(systemQuery).matches ? 'dark' : 'light';
}
