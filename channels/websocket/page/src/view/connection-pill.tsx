/** Whether the page is connected, and when it tries again. */
import { useEffect, useState } from 'preact/hooks';
import { usePage, useServices } from '../services.js';

const labels = {
  connecting: 'connecting',
  open: 'connected',
  waiting: 'disconnected',
  unauthorized: 'disconnected',
} as const;

/** A dot and a word, always in sight. */
export function ConnectionPill() {
  const { texts } = useServices();
  const name = usePage((state) => state.connection.name);

  return (
    <span class={`pill ${name}`} role="status">
      <span class="pill-dot" />
      <span class="pill-label">{texts.t(labels[name])}</span>
    </span>
  );
}

/** Floats over the conversation while the connection is gone, so that nothing below it moves. */
export function ConnectionStrip() {
  const { texts, connection } = useServices();
  const state = usePage((page) => page.connection);
  const retryAt = state.name === 'waiting' ? state.retryAt : undefined;
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    if (retryAt === undefined) return;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [retryAt]);
  if (retryAt === undefined && !(state.name === 'connecting' && state.isRetry)) return null;
  const seconds = Math.max(1, Math.ceil(((retryAt ?? nowMs) - nowMs) / 1000));
  return (
    <div class="strip">
      <span>{texts.t(retryAt === undefined ? 'connecting' : 'retryIn', { seconds })}</span>
      {retryAt !== undefined && (
        <button type="button" class="link" onClick={() => connection.retryNow()}>
          {texts.t('retryNow')}
        </button>
      )}
    </div>
  );
}
