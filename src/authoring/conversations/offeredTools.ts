import type { Offered } from '../../engine/core/domain/tool.ts';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { firstOf, listIn, objectOf, textOf } from './saidMessage.ts';

/**
 * Reads the tools that an agent was shown: in OpenAI's form, flat ones with any of the names of their schema, or a map of
 * names; as such or as JSON text. Undefined where there are none.
 */
export function toolsIn(value: Json | undefined): readonly Offered[] | undefined {
  const given = listIn(value);
  const [only] = given;
  const named = given.length === 1 && isObject(only) && nameOf(only) === undefined ? byName(only) : given;
  const tools = named.flatMap(toolIn);
  return tools.length === 0 ? undefined : tools;
}

function byName(map: JsonObject): readonly Json[] {
  return Object.entries(map).map(([name, tool]) => ({ name, ...objectOf(tool) }));
}

function nameOf(tool: JsonObject): string | undefined {
  return textOf(objectOf(tool['function'])['name']) ?? textOf(firstOf(tool, 'name', 'toolName'));
}

function toolIn(given: Json): readonly Offered[] {
  const [text] = typeof given === 'string' ? listIn(given) : [given];
  const spec = objectOf(text);
  const tool = { ...spec, ...objectOf(spec['toolSpec']), ...objectOf(spec['function']) } as JsonObject;
  const name = textOf(tool['name']) ?? textOf(tool['toolName']);
  if (name === undefined || name === '') return [];
  const schema = firstOf(tool, 'parameters', 'input_schema', 'inputSchema', 'schema', 'args_schema');
  const [read] =
    typeof schema === 'string' ? listIn(schema) : [firstOf(objectOf(schema), 'json', 'jsonSchema') ?? schema];
  const parameters = present(objectOf(read)) as JsonObject;
  return [
    {
      name,
      description: textOf(tool['description']) ?? '',
      parameters: (Object.keys(parameters).length > 0 ? parameters : { type: 'object' }) as Offered['parameters'],
    },
  ];
}

/**
 * Leaves out keys without a value: a table of rows gives each schema the keys of all others. Reads properties that are
 * written as JSON text, as some versions of `datasets` write them.
 */
function present(value: Json): Json {
  if (!isObject(value))
    return Array.isArray(value) ? value.map((each) => (isObject(each) ? present(each) : each)) : value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => {
      if (each === null) return [];
      const [read] = key === 'properties' && typeof each === 'string' ? listIn(each) : [];
      return [[key, present(read ?? each)]];
    }),
  );
}
