/** The whole page. */
import { useEffect, useState } from 'preact/hooks';
import { usePage, useServices } from '../services.js';
import { Composer } from './composer.js';
import { ConversationView } from './conversation-view.js';
import { DemoBanner } from './demo-banner.js';
import { Header } from './header.js';
import { CloseIcon, Mark } from './icons.js';
import { ErrorText } from './pending.js';
import { Sidebar } from './sidebar.js';

const longestAnnouncement = 2000;
const drawerQuery = '(max-width: 800px)';

export function App() {
  const { texts } = useServices();
  const [isListOpen, setListOpen] = useState(false);
  const isDrawer = useMediaQuery(drawerQuery);
  const isUnauthorized = usePage((state) => state.connection.name === 'unauthorized');
  const isCovered = isDrawer && isListOpen;

  useEffect(() => {
    if (!isCovered) return;
    const closeOnEscape = (event: KeyboardEvent) => {
      if (event.key === 'Escape') setListOpen(false);
    };
    document.addEventListener('keydown', closeOnEscape);
    return () => document.removeEventListener('keydown', closeOnEscape);
  }, [isCovered]);

  if (isUnauthorized) return <NotSignedIn />;
  return (
    <div class="app">
      <button type="button" class="skip" onClick={() => document.getElementById('composer')?.focus()}>
        {texts.t('skipToComposer')}
      </button>
      <Sidebar isOpen={isListOpen} isDrawer={isDrawer} close={() => setListOpen(false)} />
      {isCovered && (
        <button type="button" class="scrim" aria-label={texts.t('closeDialogs')} onClick={() => setListOpen(false)} />
      )}
      <main class="main" inert={isCovered}>
        <Header isListOpen={isListOpen} openList={() => setListOpen(true)} />
        <DemoBanner />
        <Notices />
        <ConversationView />
        <Composer />
      </main>
      <Announcer />
    </div>
  );
}

function NotSignedIn() {
  const { texts } = useServices();
  return (
    <main class="signed-out">
      <Mark />
      <h1>{texts.t('unauthorizedTitle')}</h1>
      <p>{texts.t('unauthorizedText')}</p>
    </main>
  );
}

/** What went wrong outside of a turn. */
function Notices() {
  const { chat, texts } = useServices();
  const notices = usePage((state) => state.notices);
  return (
    <div class="toasts" role="alert">
      {notices.map((notice) => (
        <div key={notice.id} class="toast">
          <ErrorText error={notice} />
          <button
            type="button"
            class="icon-button small"
            aria-label={texts.t('dismiss')}
            onClick={() => chat.dismissNotice(notice.id)}
          >
            <CloseIcon />
          </button>
        </div>
      ))}
    </div>
  );
}

/** Reads a finished answer to people who listen; the streaming text itself would be read in pieces. */
function Announcer() {
  const { markdown } = useServices();
  const announcement = usePage((state) => state.announcement);
  const html = markdown.render(markdown.lex(announcement.slice(0, longestAnnouncement)));
  return (
    <div class="hidden-text" aria-live="polite" aria-atomic="true">
      {new DOMParser().parseFromString(html, 'text/html').body.textContent.trim()}
    </div>
  );
}

function useMediaQuery(query: string): boolean {
  const [matches, setMatches] = useState(() => window.matchMedia(query).matches);
  useEffect(() => {
    const media = window.matchMedia(query);
    const update = () => setMatches(media.matches);
    media.addEventListener('change', update);
    return () => media.removeEventListener('change', update);
  }, [query]);
  return matches;
}
