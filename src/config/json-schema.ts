/** The configuration as JSON Schema: for editors, for `picobot config schema`, and for the documentation. */
import { z } from 'zod';
import { configSchema } from './schema.js';

export interface JsonSchema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  minimum?: number;
  maximum?: number;
  format?: string;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  /** A secret: never shown. */
  writeOnly?: boolean;
}

export function configJsonSchema(): JsonSchema {
  return z.toJSONSchema(configSchema, {
    io: 'input',
    override({ jsonSchema }) {
      if (jsonSchema.secret) {
        delete jsonSchema.secret;
        jsonSchema.writeOnly = true;
      }
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  }) as JsonSchema;
}
