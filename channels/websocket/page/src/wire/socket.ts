/** What the connection needs of a WebSocket, and the browser's one in that shape. */

export interface Socket {
  /** False when it is not open; the text is then dropped. */
  send(text: string): boolean;
  close(): void;
}

export interface SocketListener {
  opened(): void;
  received(text: string): void;
  /** Called once, also when it could not be opened. */
  closed(code: number): void;
}

export function openBrowserSocket(url: string, listener: SocketListener): Socket {
  const socket = new WebSocket(url);
  socket.addEventListener('open', () => listener.opened());
  socket.addEventListener('message', ({ data }) => {
    if (typeof data === 'string') listener.received(data);
  });
  socket.addEventListener('close', ({ code }) => listener.closed(code));
  return {
    send(text) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(text);
      return true;
    },
    close: () => socket.close(),
  };
}
