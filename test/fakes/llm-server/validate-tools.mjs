/** What all three families refuse in a list of tools. Returns the complaint, or undefined. */

/** @param {{name: unknown, schema: unknown}[]} tools */
export function validateTools(tools, place = 'tools') {
  const names = new Set();
  for (const [index, { name, schema }] of tools.entries()) {
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      return `Invalid '${place}[${index}].name': string does not match pattern '^[a-zA-Z0-9_-]{1,64}$'.`;
    }
    if (names.has(name)) return `${place}: Tool names must be unique. "${name}" is there twice.`;
    names.add(name);
    if (typeof schema !== 'object' || schema === null || schema.type !== 'object') {
      return `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"'.`;
    }
  }
  return undefined;
}

/** A JSON object as text. */
export function isObjectText(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
