/** Says that the demo model answers, and how to get a real one. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { usePage, useServices } from '../services.js';
import { CloseIcon } from './icons.js';

export function DemoBanner() {
  const { texts } = useServices();
  const isDemo = usePage((state) => state.status?.model.startsWith('demo/') ?? false);
  const [isHidden, setHidden] = useState(false);
  if (!isDemo || isHidden) return null;
  return (
    <aside class="banner">
      <details>
        <summary>
          <strong>{texts.t('demoTitle')}</strong> <span class="link">{texts.t('demoHow')}</span>
        </summary>
        <p>{texts.t('demoText')}</p>
        <ol>
          <li>{texts.t('demoStep1')}</li>
          <li>
            {withCode(texts.t('demoStep2'), { file: '~/.picobot/.env' })}
            <pre>DEEPSEEK_API_KEY=sk-…</pre>
          </li>
          <li>{withCode(texts.t('demoStep3'), { setting: 'agent.model', config: '~/.picobot/config.json' })}</li>
        </ol>
      </details>
      <button
        type="button"
        class="icon-button small"
        aria-label={texts.t('demoHide')}
        title={texts.t('demoHide')}
        onClick={() => setHidden(true)}
      >
        <CloseIcon />
      </button>
    </aside>
  );
}

/** The text with its `{names}` as code. */
function withCode(text: string, values: Record<string, string>): ComponentChildren[] {
  return text
    .split(/\{(\w+)\}/)
    .map((part, index) => (index % 2 === 0 ? part : <code key={part}>{values[part]}</code>));
}
