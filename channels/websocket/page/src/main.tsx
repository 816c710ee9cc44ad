/** Builds the page's parts and draws it. */
import { render } from 'preact';
import { createChat } from './chat/chat.js';
import { defaultKey } from './chat/dialogs.js';
import { createPageStore, initialState } from './chat/page-store.js';
import { dialogHash, keyOfHash } from './dialog-hash.js';
import { createMarkdownRenderer } from './markdown/renderer.js';
import { ServicesProvider } from './services.js';
import './styles/page.css';
import { createTexts } from './text/texts.js';
import { App } from './view/app.js';
import { ApiError, createApi } from './wire/api.js';
import { createConnection } from './wire/connection.js';
import { openBrowserSocket } from './wire/socket.js';

const texts = createTexts(navigator.languages);
document.documentElement.lang = texts.language;

const hiddenTabDelayMs = 200;
const drawNext = (task: () => void) => {
  if (document.hidden) setTimeout(task, hiddenTabDelayMs);
  else requestAnimationFrame(task);
};
const currentKey = () => keyOfHash(location.hash, defaultKey);
const store = createPageStore(initialState(currentKey()), drawNext);
const api = createApi((input, init) => fetch(input, init));
const chat = createChat({
  store,
  api,
  showKey(key) {
    if (key === currentKey()) chat.open(key);
    else location.hash = dialogHash(key);
  },
  newId: () => `w_${[...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(36)).join('')}`,
  now: () => Date.now(),
});
const connection = createConnection({
  openSocket: (listener) =>
    openBrowserSocket(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`, listener),
  isUnauthorized: () =>
    api.status().then(
      () => false,
      (error: unknown) => error instanceof ApiError && error.status === 401,
    ),
  onState: (state) => store.update((page) => ({ ...page, connection: state })),
  onOpen: () => chat.connected(),
  onFrame: (frame) => chat.received(frame),
  onFrameTooLarge: () => chat.frameTooLarge(),
  now: () => Date.now(),
  random: () => Math.random(),
});
chat.attach(connection);

window.addEventListener('hashchange', () => chat.open(currentKey()));
window.addEventListener('online', () => connection.probe());
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) connection.probe();
});
window.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'o' || !event.shiftKey || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  void chat.dialogs.create();
});

chat.open(currentKey());
connection.start();
render(
  <ServicesProvider
    value={{ store, chat, connection, texts, markdown: createMarkdownRenderer(window, texts.t('copy')) }}
  >
    <App />
  </ServicesProvider>,
  document.getElementById('app')!,
);
