/** A configuration as it may be shown: secrets replaced, everything else as it is. */
import { mapSecrets } from './map-secrets.js';
import { mask } from './redact.js';

/** A bare reference (`${OPENAI_API_KEY}`) is no secret and stays, so that it can be saved again. */
export function maskSecrets<T>(value: T): T {
  return mapSecrets(value, (secret) => (/^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(secret) ? secret : mask)) as T;
}
