/** Runs one tool under its time limit and turns whatever happens into an outcome. */
import type { ToolCallState } from '../protocol/events.js';
import { type Tool, type ToolContext, ToolError } from '../tools/tool.js';
import type { LoopDependencies } from './loop-dependencies.js';

export interface ToolOutcome {
  state: ToolCallState;
  output: string;
  durationMs: number;
  /** False when the tool was never started. */
  hasRun: boolean;
}

/** How long a tool may go on after its signal aborted, before the run goes on without it. */
const graceMs = 1000;

type Ending = { output: string } | { error: unknown } | 'abandoned';

/** Never rejects. Tools that ignore their signal are abandoned after a grace; what they still do is not seen. */
export async function runTool(
  tool: Tool,
  input: unknown,
  context: Omit<ToolContext, 'signal'>,
  deps: LoopDependencies,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const startedAt = deps.now();
  const controller = new AbortController();
  let isTimedOut = false;
  let deadline: NodeJS.Timeout | undefined;
  let grace: NodeJS.Timeout | undefined;
  let onAbort = () => {};

  const abandoned = new Promise<Ending>((resolve) => {
    const abort = (reason: unknown) => {
      if (controller.signal.aborted) return;
      controller.abort(reason);
      grace = setTimeout(() => resolve('abandoned'), graceMs);
    };
    onAbort = () => abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    deadline = setTimeout(() => {
      isTimedOut = true;
      abort(new DOMException('The tool took too long.', 'TimeoutError'));
    }, tool.timeoutMs);
  });
  try {
    const ending = await Promise.race([callTool(tool, input, { ...context, signal: controller.signal }), abandoned]);
    const isStopped = signal.aborted && !isTimedOut;
    const outcome = describeEnding(ending, tool, { isStopped, isTimedOut }, deps);
    return { ...outcome, durationMs: deps.now() - startedAt, hasRun: true };
  } finally {
    clearTimeout(deadline);
    clearTimeout(grace);
    signal.removeEventListener('abort', onAbort);
  }
}

async function callTool(tool: Tool, input: unknown, context: ToolContext): Promise<Ending> {
  try {
    const output: unknown = await tool.run(input, context);
    if (typeof output !== 'string') throw new TypeError(`Tool ${tool.name} returned ${typeof output}, not text.`);
    return { output };
  } catch (error) {
    return { error };
  }
}

function describeEnding(
  ending: Ending,
  tool: Tool,
  { isStopped, isTimedOut }: { isStopped: boolean; isTimedOut: boolean },
  deps: LoopDependencies,
): Pick<ToolOutcome, 'state' | 'output'> {
  if (ending !== 'abandoned' && 'output' in ending) return { state: 'done', output: ending.output };
  if (isStopped) {
    return {
      state: 'interrupted',
      output: 'The run was stopped during this call; it may or may not have taken effect. Check before repeating it.',
    };
  }
  const timedOut = `${tool.name} timed out after ${tool.timeoutMs / 1000} s`;
  if (ending === 'abandoned') {
    return { state: 'failed', output: `${timedOut} and did not stop; it may still take effect.` };
  }
  if (ending.error instanceof ToolError) {
    return { state: 'failed', output: isTimedOut ? `${ending.error.message}\n[${timedOut}.]` : ending.error.message };
  }
  if (isTimedOut) return { state: 'failed', output: `${timedOut}.` };
  deps.reportBug(ending.error, tool.name);
  return { state: 'failed', output: `${tool.name} failed with an internal error. It was reported; try another way.` };
}
