/** Texts made from the schema: config/schema.json, the commented config/default.json, the tables of docs/configuration.md. */
import { configJsonSchema, type JsonSchema } from './json-schema.js';

interface Row {
  path: string;
  schema: JsonSchema;
}

export function configSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

/** The tables of all keys, one per section, in Markdown. */
export function configTables(): string {
  const sections = Object.entries(configJsonSchema().properties ?? {});
  const single = sections.filter(([, schema]) => !schema.properties && !isNamed(schema));
  const groups: [string, Row[]][] = [
    ['General', single.map(([path, schema]) => ({ path, schema }))],
    ...sections
      .filter(([, schema]) => schema.properties || isNamed(schema))
      .flatMap(([path, schema]): [string, Row[]][] =>
        path === 'channels'
          ? Object.entries(schema.properties ?? {}).map(([name, channel]) => [
              `${path}.${name}`,
              rows(`${path}.${name}`, channel),
            ])
          : [[path, rows(path, schema)]],
      ),
  ];
  return groups
    .map(([title, list]) => {
      const lines = list.map(({ path, schema }) => row(path, schema));
      return `### ${title}\n\n| key | type | default | meaning |\n|---|---|---|---|\n${lines.join('\n')}\n`;
    })
    .join('\n');
}

/** Every key that has a default, with it, as a file with comments. */
export function defaultConfigText(): string {
  const body = objectText(configJsonSchema(), 0);
  return `// Every key with its default. Copy only what you change into config.json of PICOBOT_HOME (~/.picobot).\n${body}\n`;
}

function rows(path: string, schema: JsonSchema): Row[] {
  const { properties, additionalProperties } = schema;
  if (properties) {
    const inner = Object.entries(properties).flatMap(([key, child]) => rows(`${path}.${key}`, child));
    return inner.length > 0 ? inner : [{ path, schema }];
  }
  // Their keys are explained with the channel's own.
  const isRepetition = /\.(?:accounts|chats)$/.test(path);
  if (isNamed(schema) && !isRepetition) return rows(`${path}.<name>`, additionalProperties as JsonSchema);
  return [{ path, schema }];
}

/** An object whose keys the user names and whose values have keys of their own. */
function isNamed({ additionalProperties }: JsonSchema): boolean {
  return typeof additionalProperties === 'object' && additionalProperties.properties !== undefined;
}

function row(path: string, schema: JsonSchema): string {
  const standard = schema.default === undefined ? '' : `\`${JSON.stringify(schema.default)}\``;
  const secret = schema.writeOnly ? ' (secret)' : '';
  return `| \`${path}\` | ${typeText(schema)} | ${standard} | ${schema.description ?? ''}${secret} |`.replaceAll(
    '`"|',
    '`"\\|',
  );
}

function typeText(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.anyOf) return schema.anyOf.map(typeText).join(', ');
  const types = [schema.type ?? 'anything'].flat();
  const [type] = types;
  const names: Record<string, string> = {
    integer: 'whole number',
    string: schema.format === 'uri' ? 'URL' : 'text',
    boolean: 'true, false',
  };
  if (type === 'array') return `list of ${typeText(schema.items ?? {})}s`;
  const { additionalProperties } = schema;
  const inner = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  if (type === 'object' && inner?.type) return `${typeText(inner)}s by name`;
  const name = names[type!] ?? type!;
  return `${name}${rangeText(schema)}${types.includes('null') ? ' or null' : ''}`;
}

function rangeText({ minimum, maximum }: JsonSchema): string {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`;
  return minimum === undefined ? '' : `, from ${minimum}`;
}

function objectText(schema: JsonSchema, depth: number): string {
  const indentation = '  '.repeat(depth + 1);
  const members = Object.entries(schema.properties ?? {}).filter(([, child]) => 'default' in child || child.properties);
  const lines = members.map(([key, child], index) => {
    const comment = child.description && !child.properties ? `${indentation}// ${child.description}\n` : '';
    const value =
      Object.keys(child.properties ?? {}).length > 0
        ? objectText(child, depth + 1)
        : JSON.stringify('default' in child ? child.default : {});
    return `${comment}${indentation}${JSON.stringify(key)}: ${value}${index < members.length - 1 ? ',' : ''}\n`;
  });
  return `{\n${lines.join('')}${'  '.repeat(depth)}}`;
}
