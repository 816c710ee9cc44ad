/** The turn that is being answered now: the only part of the conversation that is drawn again while text streams. */
import { isRunning } from '../chat/conversation.js';
import type { LiveSegment } from '../chat/live-run.js';
import { GrowingMarkdown } from '../markdown/markdown.js';
import { usePage, useServices } from '../services.js';
import { Reasoning } from './reasoning.js';
import { ToolCalls } from './tool-call.js';

const noRuns: readonly never[] = [];

export function LiveTurn() {
  const { texts } = useServices();
  const live = usePage((state) => state.conversations.get(state.currentKey)?.live ?? noRuns);
  const isWaiting = usePage((state) => {
    const conversation = state.conversations.get(state.currentKey);
    return conversation !== undefined && isRunning(conversation) && !showsProgress(conversation.live.at(-1)?.segments);
  });
  return (
    <>
      {live.map((run) =>
        run.segments.length === 0 ? null : (
          <article
            key={run.runId}
            class={run.hasEnded ? 'message assistant' : 'message assistant live'}
            aria-label={texts.t('appName')}
            aria-busy={!run.hasEnded}
          >
            {run.segments.map((segment, index) => (
              <Segment
                key={segment.firstEventId}
                segment={segment}
                isGrowing={!run.hasEnded && index === run.segments.length - 1}
              />
            ))}
          </article>
        ),
      )}
      {isWaiting && (
        <p class="at-work-note">
          <span class="dots">
            <i />
            <i />
            <i />
          </span>
          <span class="hidden-text">{texts.t('working')}</span>
        </p>
      )}
    </>
  );
}

function Segment({ segment, isGrowing }: { segment: LiveSegment; isGrowing: boolean }) {
  switch (segment.kind) {
    case 'text':
      return <GrowingMarkdown text={segment.text} isGrowing={isGrowing} />;
    case 'reasoning':
      return <Reasoning text={segment.text} isGrowing={isGrowing} />;
    case 'tool':
      return <ToolCalls calls={[segment.call]} isLive />;
  }
}

/** True when the newest part shows by itself that something is going on. */
function showsProgress(segments: readonly LiveSegment[] | undefined): boolean {
  const last = segments?.at(-1);
  return last !== undefined && !(last.kind === 'tool' && last.call.state !== 'running');
}
