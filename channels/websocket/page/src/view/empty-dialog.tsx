/** A dialog in which nothing was said yet: a greeting, and a few things to try. */
import { usePage, useServices } from '../services.js';
import type { StringKey } from '../text/en.js';
import { Mark } from './icons.js';

const suggestions: { text: StringKey; label?: StringKey }[] = [
  { text: 'suggestionRemember' },
  { text: 'suggestionMath' },
  { text: 'suggestionTime' },
  { text: 'suggestionHelp', label: 'suggestionHelpLabel' },
];

export function EmptyDialog() {
  const { chat, texts } = useServices();
  const isConnected = usePage((state) => state.connection.name === 'open');
  const hour = new Date().getHours();
  const greeting = hour >= 5 && hour < 12 ? 'greetingMorning' : hour >= 18 ? 'greetingEvening' : 'greetingDay';
  return (
    <div class="empty">
      <Mark />
      <h1>{texts.t(greeting)}</h1>
      <p>{texts.t('emptyText')}</p>
      <ul class="suggestions">
        {suggestions.map(({ text, label }) => (
          <li key={text}>
            <button type="button" disabled={!isConnected} onClick={() => chat.send(texts.t(text))}>
              {texts.t(label ?? text)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
