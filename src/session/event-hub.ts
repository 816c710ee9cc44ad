/** Hands every event to its followers after it was stored. */
import type { Logger } from '../observability/log.js';
import type { Observer } from '../observability/observer.js';
import type { EventFeed } from '../protocol/control.js';
import type { AgentEvent } from '../protocol/events.js';

export interface EventHub extends EventFeed {
  publish(event: AgentEvent): void;
}

export function createEventHub(observers: readonly Observer[], log: Logger): EventHub {
  const listeners = new Set<(event: AgentEvent) => void>();
  for (const observer of observers) listeners.add((event) => observer.onEvent(event));
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    publish(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          log.error({ err: error, runId: event.runId, eventType: event.type }, 'event listener threw');
        }
      }
    },
  };
}
