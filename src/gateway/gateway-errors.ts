/** What the server itself refuses, beside the checks of who may enter. */
import type { Config } from '../config/schema.js';
import { UserError } from '../protocol/errors.js';

export function notFound(): UserError {
  return new UserError('not_found', 'There is no such route. See docs/protocol.md.', { status: 404 });
}

export function tooManyConnections(limit: number): UserError {
  return new UserError(
    'too_many_connections',
    `More than ${limit} connections are open ("gateway.maxConnections"). Try again in a moment.`,
    { status: 503 },
  );
}

export function wireError(error: NodeJS.ErrnoException): UserError {
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    return new UserError('headers_too_large', 'The request headers are too large.', { status: 431 });
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new UserError('request_timeout', 'The request did not arrive in time.', { status: 408 });
  }
  return new UserError('bad_request', 'This is not HTTP.');
}

export function listenError(error: NodeJS.ErrnoException, config: Config['gateway']): Error {
  const place = `${config.host}:${config.port}`;
  switch (error.code) {
    case 'EADDRINUSE':
      return new UserError(
        'port_in_use',
        `${place} is taken by another program, perhaps by another PicoBot. Stop it, or choose another port with "gateway.port" or PICOBOT_PORT.`,
        { cause: error },
      );
    case 'EACCES':
      return new UserError('port_forbidden', `${place} needs more rights. Choose a port above 1023.`, { cause: error });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new UserError(
        'host_not_available',
        `${config.host} is no address of this machine. Set "gateway.host" to one that is, for example 127.0.0.1.`,
        { cause: error },
      );
    default:
      return error;
  }
}
