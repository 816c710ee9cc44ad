/** Puts an answer on the wire, with whatever is wrong about it: framing, splitting, stalling, closing. */
import { setImmediate as nextTick, setTimeout as wait } from 'node:timers/promises';

/**
 * @param {import('node:http').ServerResponse} response
 * @param {{event?: string, data: string}[]} frames
 */
export async function writeStream(response, frames, step, quirks) {
  response.writeHead(200, {
    'content-type': quirks.contentType ?? 'text/event-stream',
    'cache-control': 'no-cache',
    ...step.headers,
  });
  const texts = frames.map((frame) => frameText(frame, quirks));
  if (quirks.missingLastNewline) texts.push(texts.pop().replace(/[\r\n]+$/, ''));
  const isPlain = !step.chunkDelayMs && !step.midway && !quirks.split && !quirks.stall && !quirks.close;
  if (isPlain) {
    response.end(texts.join(''));
    return;
  }
  const stopAt = quirks.stall === 'start' || quirks.close === 'start' ? 0 : middleOf(frames, quirks);
  response.flushHeaders();
  for (const [index, text] of texts.entries()) {
    if (index === stopAt) {
      await step.midway;
      if (quirks.stall) return; // says nothing more, and keeps the connection
      if (quirks.close) {
        await nextTick();
        response.socket?.destroy();
        return;
      }
    }
    await writeText(response, text, quirks.split);
    if (step.chunkDelayMs) await wait(step.chunkDelayMs);
    if (response.destroyed) return;
  }
  response.end();
}

export async function writeJson(response, value, step, quirks) {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const contentType = quirks.contentType ?? 'application/json';
  if (quirks.stall || quirks.close) {
    response.writeHead(200, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) });
    if (quirks.stall === 'start' || quirks.close === 'start') response.flushHeaders();
    else await writeText(response, text.slice(0, text.length / 2));
    if (!quirks.close) return;
    await nextTick();
    response.socket?.destroy();
    return;
  }
  response.writeHead(step.status ?? 200, { 'content-type': contentType, ...step.headers });
  response.end(text);
}

function frameText({ event, data }, { spaceless, crlf, comments }) {
  const space = spaceless ? '' : ' ';
  const text = `${comments ? ': ping\n' : ''}${event ? `event:${space}${event}\n` : ''}data:${space}${data}\n\n`;
  return crlf ? text.replaceAll('\n', '\r\n') : text;
}

/** Half of the frames; or all before the one that says that the answer is complete, or has failed. */
function middleOf(frames, { close }) {
  const isEnd = ({ data }) =>
    /"finish_reason":"|"message_delta".*"stop_reason":"|"response\.(completed|incomplete)"/.test(data);
  const isError = ({ data }) => /^\{("type":"error"|"error":)/.test(data);
  const end = frames.findIndex(close === 'before-finish' ? isEnd : isError);
  return end === -1 ? Math.ceil(frames.length / 2) : end;
}

async function writeText(response, text, bytesPerWrite) {
  const bytes = Buffer.from(text);
  const size = bytesPerWrite || bytes.length;
  for (let start = 0; start < bytes.length; start += size) {
    if (response.destroyed) return;
    await new Promise((resolve) => response.write(bytes.subarray(start, start + size), resolve));
    if (bytesPerWrite) await nextTick();
  }
}
