import { typeOfSchema } from '../expression/type.ts';
import type { Json, JsonObject } from '../values/json.ts';
import type { McpServer } from './domain.ts';
import type { Tool } from './tool.ts';

/**
 * Returns why the snapshot of a server is a list, in a clause; null if that is not certain.
 * @param toolOf finds a tool by either of its names
 */
export function listRestored(
  { reader, snapshot, restore }: McpServer,
  toolOf: (name: string) => Tool | undefined,
): string | null {
  if (!snapshot || !restore) return null;
  if (reader?.rows === true && reader.tool === snapshot.tool) return `reader has rows: true for ${snapshot.tool}`;
  const { any, list, object, text } = typeOfSchema(
    argumentOf(toolOf(restore.tool), restore.argument),
    restore.argument,
  );
  return list && !any && !object && !text ? `${restore.tool} takes a list` : null;
}

/** Returns the schema of an argument. */
export const argumentOf = (tool: Tool | undefined, argument: string): Json | undefined =>
  (tool?.parameters as { readonly properties?: JsonObject } | undefined)?.properties?.[argument];
