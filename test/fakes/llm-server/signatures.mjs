/** The fake's way of signing thinking and encrypting reasoning: enough to notice any change. */
import { createHash } from 'node:crypto';

const digest = (text) => createHash('sha256').update(`fake:${text}`).digest('base64url').slice(0, 32);

export const signatureOf = (thinking) => `sig_${digest(thinking)}`;
export const encryptedOf = (id, summary) => `enc_${digest(`${id}\n${summary}`)}`;
