/** The tool contract. A tool gets validated input and a small context, and returns text. */
import { z } from 'zod';
import { CodedError } from '../protocol/errors.js';
import type { Role } from '../protocol/messages.js';

/** Something the model can correct: its text goes back as the call's result. */
export class ToolError extends CodedError {
  constructor(message: string, options: ErrorOptions = {}) {
    super('tool_error', message, options);
  }
}

export interface ToolContext {
  signal: AbortSignal;
  /** Whose memories and files this call may touch. */
  actor: { channel: string; chatId: string; chatType: 'direct' | 'group'; userId: string; role: Role };
  sessionId: string;
  runId: string;
}

export interface Tool<Input = unknown> {
  /** `[a-z][a-z0-9_]*`, at most 64 characters. */
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** JSON Schema of `input`, as the model gets it. Computed once. */
  readonly inputSchema: Record<string, unknown>;
  /** Changes nothing; may run side by side with other read-only calls of the same step. */
  readonly isReadOnly: boolean;
  /** After this the call's signal aborts and the call fails. */
  readonly timeoutMs: number;
  /** Throws `ToolError` for what the model can correct; anything else is our bug and is reported as such. */
  run(input: Input, context: ToolContext): Promise<string>;
}

export function defineTool<Schema extends z.ZodObject>(definition: {
  name: string;
  description: string;
  input: Schema;
  isReadOnly: boolean;
  /** Default 30,000. */
  timeoutMs?: number;
  run(input: z.output<Schema>, context: ToolContext): Promise<string>;
}): Tool<z.output<Schema>> {
  const { $schema: _dialect, ...inputSchema } = z.toJSONSchema(definition.input, { io: 'input' }) as Record<
    string,
    unknown
  >;
  return { timeoutMs: 30_000, ...definition, inputSchema } as unknown as Tool<z.output<Schema>>;
}
