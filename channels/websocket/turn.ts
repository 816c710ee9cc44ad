/** One message of a connection and the frames of the run that answers it. */
import type { Logger } from '../../src/observability/log.js';
import type { ControlChannel } from '../../src/protocol/control.js';
import type { SessionId } from '../../src/protocol/ids.js';
import { type AnswerFollower, type FollowedMessage, followAnswer } from '../answer-follower.js';
import type { RunWatch } from '../run-watch.js';
import { type FrameEncoder, frameText, stampText } from './encode.js';
import type { Outlet } from './outlet.js';
import { createToolInputs } from './tool-inputs.js';

export interface Turn {
  readonly follower: AnswerFollower;
  /** As the client names them. */
  readonly echo: { sessionId: string; messageId: string };
  /** The run that answers, once it has begun. */
  readonly run: { runId: string; sessionId: SessionId; isRunning: boolean } | undefined;
  /** Settles after the last frame, or when the follower is closed. */
  readonly done: Promise<void>;
  close(): void;
}

export interface TurnOptions {
  message: FollowedMessage;
  isFreshId: boolean;
  echo: Turn['echo'];
  control: ControlChannel;
  watch: RunWatch;
  encode: FrameEncoder;
  outlet: Outlet;
  log: Logger;
  onRun: (run: NonNullable<Turn['run']>) => void;
}

/** Call before the message is published. */
export function createTurn(options: TurnOptions): Turn {
  const { control, watch, encode, outlet, echo, log } = options;
  const inputs = createToolInputs(control, watch);
  let stamp = '';
  let run: Turn['run'];
  let settle = () => {};
  const done = new Promise<void>((resolve) => {
    settle = resolve;
  });
  const close = () => {
    follower.close();
    settle();
  };
  const fail = (error: unknown) => {
    log.error({ err: error, messageId: echo.messageId }, 'answer could not be read');
    outlet.sendError(error, echo);
    close();
  };
  const follower = followAnswer({
    message: options.message,
    isFreshId: options.isFreshId,
    control,
    watch,
    pausesLive: false,
    onRun(found) {
      run = found;
      stamp = stampText(echo.sessionId, echo.messageId, found.runId);
      options.onRun(found);
    },
    sink: {
      write(event) {
        inputs.see(event);
        for (const part of encode(event, inputs.find)) outlet.sendText(frameText(part, stamp, event.id));
        if (event.type === 'run-end') close();
      },
      isFull: () => outlet.isFull(),
      fail,
    },
    onExhausted: () => fail(new Error(`the run of message ${echo.messageId} has no end`)),
  });
  return {
    follower,
    echo,
    done,
    close,
    get run() {
      return run;
    },
  };
}
