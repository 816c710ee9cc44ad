/** Serves the built web page: files of one folder, nothing else, with a policy that runs no script but its own. */
import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hostNameOf } from './host-names.js';

export interface Page {
  /** Answers a request for the page or one of its files; false when there is no such file. */
  serve(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean>;
}

/** Segments that begin with a letter, digit or underscore: no dot files, no way up, nothing encoded. */
const filePath = /^(?:\/\w[\w.-]*)+$/;
/** `name-Hash123.js`, as the bundler names what never changes. */
const hashedName = /-[\w-]{8,}\.\w+$/;

const contentTypes: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

export function createPage(folder: string): Page {
  return {
    async serve(path, request, response) {
      const isIndex = path === '/' || path === '/index.html';
      if (!isIndex && !filePath.test(path)) return false;
      const file = join(folder, isIndex ? 'index.html' : path);
      const stats = await stat(file).catch(() => undefined);
      if (!stats?.isFile()) {
        if (!isIndex) return false;
        sendText(response, 200, 'text/html; charset=utf-8', missingPage, request);
        return true;
      }
      await sendFile(file, stats, request, response);
      return true;
    },
  };
}

async function sendFile(file: string, stats: Stats, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const etag = `"${stats.size.toString(36)}-${Math.trunc(stats.mtimeMs).toString(36)}"`;
  setPageHeaders(request, response);
  response.setHeader(
    'Cache-Control',
    hashedName.test(file) && extname(file) !== '.html' ? 'public, max-age=31536000, immutable' : 'no-cache',
  );
  response.setHeader('ETag', etag);
  if (request.headers['if-none-match'] === etag) {
    response.writeHead(304).end();
    return;
  }
  response.writeHead(200, {
    'Content-Type': contentTypes[extname(file).toLowerCase()] ?? 'application/octet-stream',
    'Content-Length': stats.size,
  });
  if (request.method === 'HEAD') {
    response.end();
    return;
  }
  // A file that shrank or a client that left: the connection ends, there is nobody to tell.
  await pipeline(createReadStream(file, { end: Math.max(0, stats.size - 1) }), response).catch(() => {});
}

/** A short text of our own, under the same policy as the page. */
export function sendText(
  response: ServerResponse,
  status: number,
  contentType: string,
  text: string,
  request: IncomingMessage,
): void {
  setPageHeaders(request, response);
  response.setHeader('Cache-Control', 'no-store');
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(text) });
  response.end(request.method === 'HEAD' ? undefined : text);
}

function setPageHeaders(request: IncomingMessage, response: ServerResponse): void {
  const host = request.headers.host ?? '';
  // Older browsers do not count a WebSocket of the same host as 'self'.
  const sockets = hostNameOf(host) === undefined ? '' : ` ws://${host} wss://${host}`;
  response.setHeader(
    'Content-Security-Policy',
    [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      "manifest-src 'self'",
      "worker-src 'self'",
      `connect-src 'self'${sockets}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  );
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
}

const missingPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>PicoBot</title>
<h1>PicoBot is running</h1>
<p>The web page is not built yet. Run <code>npm run build</code> and load this page again.</p>
<p>The HTTP and WebSocket interfaces work without it: <code>npx picobot chat</code>, <code>POST /api/chat</code>, <code>/ws</code>.</p>
</html>
`;
