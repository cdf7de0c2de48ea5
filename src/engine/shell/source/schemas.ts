import * as z from 'zod';
import { agentFileSchema } from '../../core/domain/agentFile.ts';
import { domainFileSchema } from '../../core/domain/domain.ts';
import { personaSchema } from '../../core/domain/persona.ts';
import { phrasesSchema } from '../../core/domain/phrases.ts';
import { ruleSchema } from '../../core/domain/rule.ts';
import { simulatedToolSchema } from '../../core/domain/simulatedTool.ts';
import { taskSchema } from '../../core/domain/task.ts';
import { experimentFileSchema } from '../../core/evaluation/experiment.ts';
import { isObject, type Json, type JsonObject, objectOf } from '../../core/values/json.ts';

/** The files of a domain that have a JSON Schema, by the name of the schema. */
export type SchemaName = 'domain' | 'task' | 'persona' | 'rules' | 'phrases' | 'tool' | 'agent' | 'experiment';

const rulesFileSchema = z.strictObject({ rules: z.array(ruleSchema).describe('The checks.') });

/** The schema of a whole file of each kind, built from the schemas that the loader checks with. */
const fileSchemas: Readonly<Record<SchemaName, { readonly title: string; readonly schema: z.ZodType }>> = {
  domain: { title: 'Domain (domain.yaml)', schema: domainFileSchema },
  task: { title: 'Task, or a list of tasks (*.task.yaml)', schema: z.union([taskSchema, z.array(taskSchema).min(1)]) },
  persona: {
    title: 'Persona, or a list of personas (*.persona.yaml)',
    schema: z.union([personaSchema, z.array(personaSchema).min(1)]),
  },
  tool: {
    title: 'Simulated tool, or a list of them (*.tool.yaml)',
    schema: z.union([simulatedToolSchema, z.array(simulatedToolSchema).min(1)]),
  },
  experiment: { title: 'Experiment (*.experiment.yaml)', schema: experimentFileSchema },
  agent: { title: 'Custom agent (*.agent.yaml)', schema: agentFileSchema },
  rules: {
    title: 'Machine checks of the policy (rules.yaml)',
    schema: z.union([z.array(ruleSchema), rulesFileSchema]),
  },
  phrases: { title: 'Ways to say things (phrases.yaml)', schema: phrasesSchema },
};

let made: Readonly<Record<SchemaName, JsonObject>> | undefined;

/** JSON Schemas (draft 2020-12) of the files of a domain, for the editor. */
export function jsonSchemas(): Readonly<Record<SchemaName, JsonObject>> {
  made ??= Object.fromEntries(
    Object.entries(fileSchemas).map(([name, { title, schema }]) => [
      name,
      { title, ...(z.toJSONSchema(schema, { io: 'input' }) as unknown as JsonObject) },
    ]),
  ) as unknown as Record<SchemaName, JsonObject>;
  return made;
}

/** The form of several that the value at a path was meant to have, by its place in the list of forms. */
export type Choice = { readonly path: readonly PropertyKey[]; readonly form: number };

/**
 * Keys that are allowed in the map at this path of a file, across all forms that the map may have except for those not
 * chosen.
 */
export function keysAt(
  name: SchemaName,
  path: readonly PropertyKey[],
  choices: readonly Choice[] = [],
): readonly string[] {
  return [...new Set(schemasAt(name, path, choices).flatMap(({ properties }) => Object.keys(objectOf(properties))))];
}

/** Whether the map at this path of a file takes keys of any name, such as the arguments of a call. */
export function takesAnyKey(name: SchemaName, path: readonly PropertyKey[], choices: readonly Choice[] = []): boolean {
  return schemasAt(name, path, choices).some(({ additionalProperties }) => isObject(additionalProperties));
}

/** Returns the form of a map that takes all its keys but those that are unknown, where it has several forms. */
export function formWith(
  name: SchemaName,
  path: readonly PropertyKey[],
  written: readonly string[],
  unknown: readonly string[],
): number | undefined {
  const known = [...new Set(written).difference(new Set(unknown))];
  const takes = (form: Json) => {
    const { properties, required } = objectOf(form);
    const isTaken = (key: string) => isObject(properties) && Object.hasOwn(properties, key);
    const isThere = (key: Json) => known.includes(String(key));
    return known.every(isTaken) && !unknown.some(isTaken) && (!Array.isArray(required) || required.every(isThere));
  };
  for (const { anyOf } of schemasAt(name, path, [])) {
    const form = Array.isArray(anyOf) ? anyOf.findIndex(takes) : -1;
    if (form >= 0) return form;
  }
  return undefined;
}

/** The sentence that describes the value at this path, or undefined. */
export function descriptionAt(
  name: SchemaName,
  path: readonly PropertyKey[],
  choices: readonly Choice[] = [],
): string | undefined {
  const schemas = schemasAt(name, path, choices);
  // Each of several constants has its own description, and none of them describes the value.
  if (schemas.filter((schema) => schema['const'] !== undefined).length > 1) return undefined;
  return schemas.map(({ description }) => description).find((text) => typeof text === 'string');
}

/**
 * The forms that the value at this path may have. Of a union whose forms tell themselves apart by a constant, such as
 * the check of a rule, only those that fit what is written.
 * @param root what the file holds, as far as it can be read
 */
export function formsAt(name: SchemaName, path: readonly PropertyKey[], root: unknown): readonly JsonObject[] {
  const values = [root];
  for (const part of path) values.push((values.at(-1) as Record<PropertyKey, unknown> | null | undefined)?.[part]);
  const propertiesOf = ({ properties }: JsonObject) => Object.entries(objectOf(properties));
  const isConstant = ([, each]: readonly [string, Json]) => isObject(each) && each.const !== undefined;
  const fits = (schema: JsonObject, value: unknown, constants: ReadonlySet<string>) =>
    propertiesOf(schema).every(([key, each]) => {
      const written = (value as Record<string, Json> | null | undefined)?.[key];
      if (!isObject(each) || !constants.has(key) || written === undefined) return true;
      return Array.isArray(each.enum) ? each.enum.includes(written) : [undefined, written].includes(each.const);
    });
  const kept = (schemas: readonly JsonObject[], value: unknown) => {
    const constants = new Set(
      schemas.flatMap((schema) =>
        propertiesOf(schema)
          .filter(isConstant)
          .map(([key]) => key),
      ),
    );
    const fitting = schemas.filter((schema) => fits(schema, value, constants));
    return fitting.some(({ properties }) => properties !== undefined) ? fitting : schemas;
  };
  const whole = jsonSchemas()[name];
  return path.reduce<readonly JsonObject[]>(
    (schemas, part, depth) =>
      kept(
        schemas.flatMap((schema) => formsOf(below(schema, part), whole)),
        values[depth + 1],
      ),
    kept(formsOf(whole, whole), root),
  );
}

/** A schema and every form that it offers. */
function formsOf(schema: Json | undefined, root: JsonObject): readonly JsonObject[] {
  if (!isObject(schema)) return [];
  if (typeof schema.$ref === 'string')
    return formsOf(schema.$ref.split('/').slice(1).reduce<Json | undefined>(member, root), root);
  const inner = [schema.anyOf, schema.oneOf].flatMap((list) =>
    Array.isArray(list) ? list.flatMap((each) => formsOf(each, root)) : [],
  );
  return inner.length > 0 ? [schema, ...inner] : [schema];
}

function schemasAt(name: SchemaName, path: readonly PropertyKey[], choices: readonly Choice[]): readonly JsonObject[] {
  const root = jsonSchemas()[name];
  const chosen = (schema: Json | undefined, depth: number): readonly JsonObject[] => {
    const choice = choices.find(
      (each) => each.path.length === depth && each.path.every((part, at) => part === path[at]),
    );
    const form = isObject(schema) && Array.isArray(schema.anyOf) && choice ? schema.anyOf[choice.form] : undefined;
    return formsOf(form ?? schema, root);
  };
  return path.reduce<readonly JsonObject[]>(
    (schemas, part, at) => schemas.flatMap((schema) => chosen(below(schema, part), at + 1)),
    chosen(root, 0),
  );
}

function below(schema: JsonObject, part: PropertyKey): Json | undefined {
  if (typeof part === 'number') return schema.items;
  return (
    member(schema.properties, String(part)) ??
    (isObject(schema.additionalProperties) ? schema.additionalProperties : undefined)
  );
}

const member = (value: Json | undefined, key: string): Json | undefined => (isObject(value) ? value[key] : undefined);
