import type { Offered } from '../../engine/core/domain/tool.ts';
import { isObject, type Json, type JsonObject } from '../../engine/core/values/json.ts';
import { firstOf, listIn, objectOf, textOf } from './saidMessage.ts';

/**
 * Reads the tools that an agent was shown: in OpenAI's form, custom ones included, flat ones with any of the names of their
 * schema, or a map of names; as such or as JSON text. Undefined where there are none.
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
  return textOf(objectOf(firstOf(tool, 'function', 'custom'))['name']) ?? textOf(firstOf(tool, 'name', 'toolName'));
}

function toolIn(given: Json): readonly Offered[] {
  const [text] = typeof given === 'string' ? listIn(given) : [given];
  const spec = objectOf(text);
  const own = firstOf(spec, 'toolSpec', 'function', 'custom');
  const tool = { ...spec, ...objectOf(own) } as JsonObject;
  const name = textOf(tool['name']) ?? textOf(tool['toolName']);
  if (name === undefined || name === '') return [];
  const description = textOf(tool['description']) ?? '';
  const schema = firstOf(tool, 'parameters', 'input_schema', 'inputSchema', 'schema', 'args_schema');
  // Anthropic has tools of this type as well, with a schema.
  if (spec['type'] === 'custom' && schema === undefined)
    return [{ name, description, parameters: textArguments(objectOf(tool['format'])) }];
  const [read] =
    typeof schema === 'string' ? listIn(schema) : [firstOf(objectOf(schema), 'json', 'jsonSchema') ?? schema];
  const parameters = present(objectOf(read)) as JsonObject;
  return [
    {
      name,
      description,
      parameters: (Object.keys(parameters).length > 0 ? parameters : { type: 'object' }) as Offered['parameters'],
    },
  ];
}

/** Returns the schema of a custom tool of OpenAI, whose input is a text. Servers are sent such a text as `arguments`. */
function textArguments(format: JsonObject): Offered['parameters'] {
  const { syntax, definition } = { ...format, ...objectOf(format['grammar']) } as JsonObject;
  const grammar = textOf(definition);
  const described =
    grammar === undefined ? {} : { description: `In this ${textOf(syntax) ?? ''} grammar:\n${grammar}` };
  return { type: 'object', properties: { arguments: { type: 'string', ...described } }, required: ['arguments'] };
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
