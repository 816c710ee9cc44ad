/** Telemetry: an observer receives every agent event after it was stored. */
import type { AgentEvent } from '../protocol/events.js';

export interface Observer {
  /** Must return at once. What it throws is logged and ignored. */
  onEvent(event: AgentEvent): void;
}
