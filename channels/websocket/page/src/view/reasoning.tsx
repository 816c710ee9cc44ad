/** What the model thought, folded away until somebody wants to read it. */
import { useServices } from '../services.js';
import { ChevronIcon, SparkIcon } from './icons.js';
import { memo } from './memo.js';

interface ReasoningProps {
  text: string;
  isGrowing: boolean;
}

export const Reasoning = memo(function Reasoning({ text, isGrowing }: ReasoningProps) {
  const { texts } = useServices();
  return (
    <details class="fold reasoning">
      <summary>
        <SparkIcon />
        <span class={isGrowing ? 'fold-name at-work' : 'fold-name'}>
          {texts.t(isGrowing ? 'thinking' : 'thoughts')}
        </span>
        <ChevronIcon />
      </summary>
      <div class="fold-body reasoning-text" dir="auto">
        {text.trim()}
      </div>
    </details>
  );
});
