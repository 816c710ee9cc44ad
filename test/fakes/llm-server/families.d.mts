/** The strict validators, for tests in memory: each returns the complaint, or undefined. */
import type { FakeRules, Family } from './server.mjs';

export const families: Record<Family, { validate(body: unknown, rules?: FakeRules): string | undefined }>;
