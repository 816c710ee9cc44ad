/** Tool calls: one line each, which unfolds to what went in and what came out. */

import type { ShownToolCall } from '../chat/shown-message.js';
import { useServices } from '../services.js';
import { AlertIcon, CheckIcon, ChevronIcon, ToolIcon } from './icons.js';
import { memo } from './memo.js';

export function ToolCalls({ calls, isLive }: { calls: readonly ShownToolCall[]; isLive: boolean }) {
  return (
    <div class="tools">
      {calls.map((call) => (
        <ToolCall key={call.callId} call={call} isLive={isLive} />
      ))}
    </div>
  );
}

const labels = {
  running: 'toolRunning',
  done: 'toolDone',
  failed: 'toolFailed',
  interrupted: 'toolInterrupted',
} as const;

const ToolCall = memo(function ToolCall({ call, isLive }: { call: ShownToolCall; isLive: boolean }) {
  const { texts } = useServices();
  const isLost = call.state === 'running' && !isLive;
  const label = isLost ? 'toolNoResult' : labels[call.state];
  return (
    <details class={isLost ? 'fold tool' : `fold tool ${call.state}`}>
      <summary>
        <ToolIcon />
        <code class={call.state === 'running' && isLive ? 'fold-name at-work' : 'fold-name'}>{call.name}</code>
        <span class="tool-summary" dir="auto">
          {summarize(call.input)}
        </span>
        <span class="tool-state">
          {call.state === 'done' && <CheckIcon />}
          {(call.state === 'failed' || call.state === 'interrupted') && <AlertIcon />}
          <span class={call.state === 'done' ? 'hidden-text' : undefined}>{texts.t(label)}</span>
        </span>
        <ChevronIcon />
      </summary>
      <div class="fold-body">
        <h4>{texts.t('toolInput')}</h4>
        <pre>{typeof call.input === 'string' ? call.input : JSON.stringify(call.input, null, 2)}</pre>
        {call.output !== undefined && (
          <>
            <h4>{texts.t('toolResult')}</h4>
            <pre dir="auto">{call.output}</pre>
          </>
        )}
      </div>
    </details>
  );
});

/** The words of the input that say most: its values, without the names. */
function summarize(input: unknown): string {
  if (typeof input !== 'object' || input === null) return String(input ?? '');
  return Object.values(input)
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
    .join(' · ')
    .slice(0, 200);
}
