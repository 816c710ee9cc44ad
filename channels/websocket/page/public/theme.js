// Before the first paint: the theme that the person chose, so that the page does not flash in the other one.
try {
  const theme = localStorage.getItem('picobot.theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be switched off; the system's theme is fine then.
}
