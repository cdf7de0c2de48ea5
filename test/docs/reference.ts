import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { inRoot } from '../../scripts/repository.ts';
import { loadCommands } from '../../src/cli/commands.ts';
import { fitted } from '../../src/cli/options/help.ts';
import { eventSchema, recordedSchema, recordingFormat } from '../../src/engine/core/events/event.ts';
import type { Json, JsonObject } from '../../src/engine/core/values/json.ts';
import { jsonObjectSchema } from '../../src/engine/core/values/jsonObjectSchema.ts';
import { jsonSchemas } from '../../src/engine/shell/source/schemas.ts';
import { commandUses } from '../../src/extension/commandUses.ts';
import type { CommandId } from '../../src/extension/workspace/contributions.ts';
import trainer from '../../trainer/rehearsal_trainer/keys.json' with { type: 'json' };

type Placed = { readonly command: string; readonly when?: string };
type Setting = {
  readonly type: string;
  readonly default: unknown;
  readonly description?: string;
  readonly markdownDescription?: string;
  readonly enum?: readonly string[];
  readonly enumDescriptions?: readonly string[];
};
type Manifest = {
  readonly contributes: {
    readonly commands: readonly { readonly command: string; readonly title: string; readonly category: string }[];
    readonly menus: Readonly<Record<string, readonly Placed[]>>;
    readonly configuration: { readonly properties: Readonly<Record<string, Setting>> };
    readonly debuggers: readonly {
      readonly configurationAttributes: Readonly<Record<'launch' | 'attach', JsonObject>>;
    }[];
    readonly languageModelTools: readonly { readonly name: string; readonly modelDescription: string }[];
  };
};

const { contributes } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as Manifest;

/** The places where VS Code shows the items of a menu. */
const places: Readonly<Record<string, string>> = {
  'editor/title/run': 'the run button of an editor',
  'editor/title': 'the title of an editor',
  'editor/title/context': 'the menu of a tab',
  'editor/context': 'the menu of an editor',
  'explorer/context': 'the menu of a file',
  'debug/callstack/context': 'the menu of CALL STACK',
  'debug/toolBar': 'the debug toolbar',
  'debug/variables/context': 'the menu of VARIABLES',
  'testing/message/context': 'the menu of a failure',
  'testing/item/context': 'the menu of a test',
  'view/title': 'the title of a view',
  'view/item/context': 'the menu of a row',
};

/** Returns the reference of all commands of the editor, and of the places where they appear. */
export function commandReference(): string {
  const hidden = new Set(
    contributes.menus['commandPalette']?.flatMap(({ command, when }) => (when === 'false' ? [command] : [])),
  );
  const rows = contributes.commands.map(({ command, title, category }) => {
    const menus = Object.entries(contributes.menus).flatMap(([menu, items]) =>
      items.some((each) => each.command === command) ? (places[menu] ?? []) : [],
    );
    const where = [...(hidden.has(command) ? [] : ['the palette']), ...new Set(menus)].join(', ');
    return `| ${category}: ${title} | ${commandUses[command as CommandId]} | \`${command}\` | ${where} |`;
  });
  const tools = contributes.languageModelTools.map(
    ({ name, modelDescription }) => `- \`${name}\`: ${modelDescription}`,
  );
  return `# Commands of the editor

| command | what it does | id | where |
| --- | --- | --- | --- |
${rows.join('\n')}

## Tools for the editor's own agent

${tools.join('\n')}

The tools of every domain are offered to it as an MCP server, too, on a temporary database (\`rehearsal mcp\`).
`;
}

/** Returns the reference of all settings, with defaults and descriptions. */
export function settingReference(): string {
  const sections = Object.entries(contributes.configuration.properties).map(([name, setting]) => {
    const values = setting.enum?.map((value, at) => `- \`${value}\`: ${setting.enumDescriptions?.[at] ?? ''}`) ?? [];
    const about = setting.markdownDescription ?? setting.description ?? '';
    return [`## ${name}`, `${setting.type}, default \`${JSON.stringify(setting.default)}\``, about, values.join('\n')]
      .filter((part) => part !== '')
      .join('\n\n');
  });
  return `# Settings\n\n${sections.join('\n\n')}\n`;
}

/** Returns the help of all commands of the command line. */
export async function commandLineReference(): Promise<string> {
  const sections = (await loadCommands()).map(
    ({ name, help }) => `## ${name}\n\n\`\`\`\n${fitted(help).trim()}\n\`\`\``,
  );
  const codes =
    'In a clone, `npx rehearsal COMMAND` runs a command. `rehearsal help COMMAND` prints what is below. Every command has `--json` and `--help`. Exit codes: 0 done, 1 findings, 2 the command could not run. A terminal shows colors unless `NO_COLOR` is set.';
  return `# Command line\n\n${codes}\n\n${sections.join('\n\n')}\n`;
}

/** Returns the reference of all keys in the files of a domain, from the schemas that validate them. */
export function fileReference(): string {
  const sections = Object.values(jsonSchemas()).map((schema) => {
    return `## ${schema['title']}\n\n${table(keysOf(schema, schema, ''))}`;
  });
  return `# Keys of the files of a domain\n\n[domain-format.md](../domain-format.md) explains how they work together.\n\n${sections.join('\n\n')}\n`;
}

/** Returns the reference of all attributes of a debug configuration in `launch.json`. */
export function launchReference(): string {
  const heads = {
    launch: 'Play a task (`"request": "launch"`)',
    attach: 'Step through a recording (`"request": "attach"`)',
  };
  const sections = contributes.debuggers.flatMap(({ configurationAttributes }) =>
    Object.entries(configurationAttributes).map(([request, schema]) => {
      const rows = keysOf(schema, schema, '').map(({ path, type, isRequired, about }) => {
        const from = valueAt(schema, path)['default'];
        const usual = from === undefined ? '' : `\`${JSON.stringify(from)}\``;
        return `| \`${path}\` | ${type}${isRequired ? ', required' : ''} | ${usual} | ${about} |`;
      });
      return `## ${heads[request as keyof typeof heads]}\n\n| attribute | type | default | what it says |\n| --- | --- | --- | --- |\n${rows.join('\n')}`;
    }),
  );
  return `# Debug configurations\n\nThe attributes of a configuration of the type \`rehearsal\` in launch.json. [debugger.md](../debugger.md) explains what the debugger does with them.\n\n${sections.join('\n\n')}\n`;
}

function valueAt(schema: JsonObject, path: string): JsonObject {
  return path.split('.').reduce<JsonObject>((at, name) => {
    const properties = at['properties'];
    const value = isObject(properties) ? properties[name] : undefined;
    return isObject(value) ? value : {};
  }, schema);
}

/** Returns the JSON Schema of what a schema takes. */
function schemaOf(schema: z.ZodType): JsonObject {
  const described = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if ((zodSchema as unknown) === jsonObjectSchema)
        Object.assign(jsonSchema, { type: 'object', additionalProperties: {} });
    },
  });
  return described as unknown as JsonObject;
}

/** Returns the reference of all events of a recording, from the schema that validates recordings. */
export function recordingReference(): string {
  const line = schemaOf(recordedSchema);
  const ofLine = keysOf(
    {
      ...line,
      properties: {
        ...(line['properties'] as JsonObject),
        event: { type: 'object', description: 'What happened, by its `type`: one of the events below.' },
      },
    },
    line,
    '',
  );
  const sections = eventSchema.options.map((option) => {
    const schema = schemaOf(option);
    const keys = keysOf(schema, schema, '').filter(({ path }) => path !== 'type');
    const about = oneLine(String(schema['description'] ?? ''));
    return `## ${option.shape.type.value}\n\n${about}\n\n${table(keys)}`;
  });
  return `# The recording format

A recording, \`TASK.TRIAL.traj.jsonl\`, is the events of one rollout in order, a line of JSON each. The world at a step is the fold of the events up to it, so nothing else is needed to replay, step back or fork. Events never change and hold no clock times: those are in the sidecar beside it, \`TASK.TRIAL.sidecar.jsonl\`, by the number of the event, with latency, retries, cost and the exact requests. An imported conversation has no sidecar. This is format ${recordingFormat}. Trainers and other readers should leave keys alone that they do not know.

## A line

${table(ofLine)}

${sections.join('\n\n')}
`;
}

function table(keys: readonly Key[]): string {
  const rows = keys.map(
    ({ path, type, isRequired, about }) => `| \`${path}\` | ${type}${isRequired ? ', required' : ''} | ${about} |`,
  );
  return `| key | type | what it says |\n| --- | --- | --- |\n${rows.join('\n')}`;
}

/** Returns the reference of all metrics of a run, with the names of the dashboard. */
export function metricReference(): string {
  const rows = trainer.metrics.map(({ name, label, about, unit, runs }) => {
    const charts = trainer.charts.filter(({ metrics }) => metrics.includes(name));
    const chart = charts.map((each) => each.label).join(', ');
    return `| \`${name}\` | ${label.replaceAll('<', '\\<')} | ${runNames(runs)} | ${unit ?? ''} | ${oneLine(about)} | ${chart} |`;
  });
  return `# Metrics of a training run

A line of \`metrics.jsonl\` holds what was measured in an optimizer step. The metrics of rollouts are means over those of the step that have a reward, unless they say otherwise. A group is the rollouts of one task that an optimizer step compares with each other: two groups of a step count as two, also where they are of one task, and tasks of two domains never share one. In an evaluation it is all rollouts of a task.

In a name \`<tool>\`, \`<domain>\` and \`<name>\` mean words of the run, and \`<metric>\` for another metric of the table. An evaluation (\`kind: evaluate\`) has its metrics in \`result.json\`. The last column is the chart of the dashboard that draws the metric; all others are in its table.

| metric | called | of | unit | what it is | chart |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

/** Returns the reference of all alarms of a run, and the limits that raise them. */
export function alarmReference(): string {
  const alarms = trainer.alarms.map(
    ({ name, about, advice, runs }) => `| \`${name}\` | ${runNames(runs)} | ${oneLine(about)} | ${oneLine(advice)} |`,
  );
  const limits = trainer.limits.map((limit) => `| \`${limit.name}\` | ${limit.default} | ${oneLine(limit.about)} |`);
  return `# Alarms of a training run

GRPO and SFT look at their metrics after every optimizer step. An alarm is raised at the optimizer step at which its condition becomes true, and again only after it was false; a resumed run continues with the metrics up to its checkpoint. The table says when with the limits’ defaults.

| alarm | of | raised when | advice |
| --- | --- | --- | --- |
${alarms.join('\n')}

\`pause_on\` names alarms that pause the run: it writes a checkpoint and ends with the event \`paused\`, and \`--resume\` continues it. \`alarms\` changes limits:

\`\`\`yaml
kind: grpo
pause_on: [kl-explosion]
alarms: { kl: 0.2 }
\`\`\`

| limit | default | what it is |
| --- | --- | --- |
${limits.join('\n')}
`;
}

const runNames = (runs: readonly string[]): string =>
  runs.map((run) => (run === 'evaluate' ? 'evaluation' : run.toUpperCase())).join(', ');

type Key = { readonly path: string; readonly type: string; readonly isRequired: boolean; readonly about: string };

const deepest = 4;

/** Returns the keys of a schema. A file that is a list has the keys of its elements. Other lists are shown as `[]`. */
function keysOf(schema: JsonObject, root: JsonObject, prefix: string): readonly Key[] {
  if (prefix.split(/[.[]/).length > deepest) return [];
  const forms = formsOf(schema, root);
  const found = new Map<string, Key>();
  for (const form of forms) {
    const required = new Set((form['required'] as readonly string[] | undefined) ?? []);
    for (const [name, value] of Object.entries((form['properties'] ?? {}) as Record<string, JsonObject>)) {
      const path = prefix === '' ? name : `${prefix}.${name}`;
      const about = oneLine(String(value['description'] ?? ''));
      const key = { path, type: typeOf(value, root), isRequired: required.has(name), about };
      found.set(path, merged(found.get(path), key));
      for (const key of keysOf(value, root, path)) if (!found.has(key.path)) found.set(key.path, key);
    }
    const named = form['additionalProperties'];
    if (isObject(named) && prefix === '') {
      const about = oneLine(String(named['description'] ?? ''));
      found.set('NAME', { path: 'NAME', type: typeOf(named, root), isRequired: false, about });
    }
    if (isObject(named) && prefix !== '')
      for (const key of keysOf(named, root, `${prefix}.NAME`)) if (!found.has(key.path)) found.set(key.path, key);
    const items = form['items'];
    if (isObject(items))
      for (const key of keysOf(items, root, prefix === '' ? '' : `${prefix}[]`))
        if (!found.has(key.path)) found.set(key.path, key);
  }
  return [...found.values()];
}

/** Merges the descriptions of one key in two forms. If both are constants, it explains each of them. */
function merged(known: Key | undefined, more: Key): Key {
  if (known === undefined || known.type === more.type) return known ?? more;
  const constants = /^`[^`]+`(?: or `[^`]+`)*$/;
  const isChoice = constants.test(more.type) && known.about !== more.about;
  // A description that was merged before already explains its constants.
  const isOpen = ({ type, about }: Key) => constants.test(type) && !about.startsWith('`');
  const explained = (key: Key) => (isOpen(key) ? `${key.type}: ${key.about}` : key.about);
  return {
    ...known,
    type: [...new Set([...known.type.split(' or '), ...more.type.split(' or ')])].join(' or '),
    about: isChoice ? `${explained(known)} ${explained(more)}` : known.about,
  };
}

function formsOf(schema: JsonObject, root: JsonObject): readonly JsonObject[] {
  const { $ref } = schema;
  if (typeof $ref === 'string') {
    const target = $ref
      .split('/')
      .slice(1)
      .reduce<Json | undefined>((at, part) => (isObject(at) ? at[part] : undefined), root);
    return isObject(target) ? formsOf(target, root) : [];
  }
  const inner = [schema['anyOf'], schema['oneOf']].flatMap((list) =>
    Array.isArray(list) ? list.filter(isObject) : [],
  );
  return [schema, ...inner.flatMap((each) => formsOf(each, root))];
}

function typeOf(schema: JsonObject, root: JsonObject): string {
  const names = formsOf(schema, root).flatMap(({ type, enum: values, const: constant }) => {
    if (Array.isArray(values)) return values.map((value) => `\`${String(value)}\``);
    if (constant !== undefined) return [`\`${String(constant)}\``];
    return typeof type === 'string' ? [type] : [];
  });
  return [...new Set(names)].join(' or ') || 'any value';
}

const oneLine = (text: string) => text.replaceAll('|', '\\|').replace(/\s+/g, ' ');

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
