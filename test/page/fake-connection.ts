/** One WebSocket client of the fake gateway. */
import type { RawData, WebSocket } from 'ws';
import type { ClientFrame } from '../../src/protocol/frames.js';

export class FakeConnection {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket, onFrame: (frame: ClientFrame) => void) {
    this.#socket = socket;
    socket.on('message', (data: RawData) => onFrame(JSON.parse(String(data)) as ClientFrame));
    socket.on('error', () => socket.terminate());
  }

  send(frame: object): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
