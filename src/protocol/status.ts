/** What `/readyz`, `/api/status` and the start banner say about the running daemon. */

export interface ChannelStatus {
  id: string;
  /** `failed`: a permanent error, not tried again until the configuration changes. */
  state: 'starting' | 'running' | 'restarting' | 'failed' | 'stopped';
  lastError?: string;
  /** ms since the epoch of the last message received. */
  lastMessageAt?: number;
}

export interface DaemonStatus {
  version: string;
  state: 'starting' | 'ready' | 'draining';
  startedAt: number;
  /** `platform/model` that answers now. */
  model: string;
  channels: ChannelStatus[];
  queues: { inboundWaiting: number; running: number; outboundWaiting: number };
}
