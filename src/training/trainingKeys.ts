import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type TrainingKind, trainingKinds } from '../engine/core/domain/trainingKind.ts';
import { type Json, type JsonObject, textOrJson } from '../engine/core/values/json.ts';
import { shippedFolder } from '../engine/shell/files/shippedFolder.ts';

const keySchema = z.object({
  name: z.string(),
  type: z.string(),
  schema: z.record(z.string(), z.json()),
  /** A description of the key, in sentences. */
  about: z.string(),
  unit: z.string().optional(),
  /** The value that the MUA-RL paper reports. */
  paper: z.string().optional(),
  trl: z.string().optional(),
  verl: z.string().optional(),
  /** The names that its value may contain, if only these are allowed. */
  names: z.array(z.string()).optional(),
  /** Names files, relative to the file that it is written in. */
  isPath: z.boolean(),
  /** The command line fills it in. */
  isGiven: z.boolean(),
  /** Only a run on a Ray cluster has it. */
  isForRay: z.boolean().optional(),
  /** The defaults by profile; empty if the key requires a value. */
  defaults: z.record(z.string(), z.json()),
  /** The default of each algorithm that has its own. */
  algorithms: z.record(z.string(), z.json()).optional(),
});
export type TrainingKey = z.infer<typeof keySchema>;

const fileSchema = z.object({ sft: z.array(keySchema), grpo: z.array(keySchema), evaluate: z.array(keySchema) });
let read: Readonly<Record<TrainingKind, readonly TrainingKey[]>> | undefined;

/** Every key of the trainer's configurations, as the trainer itself explains them. */
export function trainingKeys(kind: TrainingKind): readonly TrainingKey[] {
  const file = join(shippedFolder('trainer'), 'rehearsal_trainer', 'keys.json');
  read ??= fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return read[kind];
}

type Configured = { readonly kind: TrainingKind; readonly config: Readonly<Record<string, unknown>> };

/** Returns the value that a run has for a key: the configured one, or the default of its profile. */
export function settingOf({ kind, config }: Configured, name: string): unknown {
  if (name in config) return config[name];
  const profile = String(config['profile'] ?? 'cpu');
  return trainingKeys(kind).find((key) => key.name === name)?.defaults[profile];
}

/** Returns a description of a key in addition to its type: its text, unit, defaults, and names elsewhere. */
export function explain(key: TrainingKey): readonly string[] {
  const { about, unit, paper, trl, verl, names, defaults, algorithms, isForRay } = key;
  return [
    about,
    ...(isForRay ? ['Only on a Ray cluster (--target ray://HOST:8265).'] : []),
    ...(unit === undefined ? [] : [`Unit: ${unit}.`]),
    ...(names === undefined ? [] : [`Names: ${names.join(', ')}.`]),
    ...(Object.keys(defaults).length === 0 ? [] : [`Default: ${defaultOf(key)}.`]),
    ...(algorithms === undefined ? [] : [`By algorithm: ${byName(algorithms)}.`]),
    ...(paper === undefined ? [] : [`MUA-RL: ${paper}.`]),
    ...(trl === undefined ? [] : [`TRL: ${trl}.`]),
    ...(verl === undefined ? [] : [`verl: ${verl}.`]),
  ];
}

/** The values by name: `cpu 8, paper 128`. */
export function byName(values: Readonly<Record<string, Json>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${shownValue(value)}`)
    .join(', ');
}

/** Returns the default of a key: by profile, or a single value if it is the same in all profiles. */
export function defaultOf({ defaults }: Pick<TrainingKey, 'defaults'>): string {
  const [first, ...others] = new Set(Object.values(defaults).map(shownValue));
  return first === undefined || others.length > 0 ? byName(defaults) : first;
}

function shownValue(value: Json): string {
  if (typeof value === 'number' && value !== 0 && Math.abs(value) < 0.001) return value.toExponential();
  return textOrJson(value);
}

/** The JSON Schema (draft 2020-12) of a `*.training.yaml`, for the editor. */
export function trainingSchema(): JsonObject {
  const forms = trainingKinds.map((kind): JsonObject => {
    const keys = trainingKeys(kind).filter(({ isGiven }) => !isGiven);
    return {
      title: kind,
      type: 'object',
      properties: {
        kind: { const: kind, description: kindWords[kind] },
        ...Object.fromEntries(keys.map((key) => [key.name, propertyOf(key)])),
      },
      required: ['kind'],
      additionalProperties: false,
    };
  });
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Configuration of a training run (*.training.yaml)',
    anyOf: forms,
  };
}

const kindWords: Readonly<Record<TrainingKind, string>> = {
  sft: 'Learns from recordings that went well.',
  grpo: 'Learns from rollouts and their rewards.',
  evaluate: 'Measures a model.',
};

function propertyOf(key: TrainingKey): JsonObject {
  const [first = '', ...more] = explain(key);
  const usual = key.defaults['cpu'];
  return {
    ...key.schema,
    description: [first, ...more].join('\n'),
    markdownDescription: [first, ...more.map((line) => `- ${line}`)].join('\n\n'),
    ...(usual === undefined || usual === null ? {} : { default: usual }),
  };
}
