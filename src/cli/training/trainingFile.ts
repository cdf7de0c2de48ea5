import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type TrainingKind, trainingKinds } from '../../engine/core/domain/trainingKind.ts';
import { isObject, type Json } from '../../engine/core/values/json.ts';
import { formatDiagnostic } from '../../engine/shell/files/diagnostic.ts';
import { readSource } from '../../engine/shell/source/source.ts';
import { parseYaml } from '../../engine/shell/source/yaml.ts';
import { trainingKeys } from '../../training/trainingKeys.ts';
import { UsageError } from '../terminal/io.ts';

type Values = Readonly<Record<string, Json>>;

/** A configuration that a person wrote (`*.training.yaml`); its paths are whole, and its values as yet unchecked. */
export type TrainingFile = {
  readonly kind: TrainingKind;
  readonly values: Values;
  /** The words with the file's line before them, where they begin with a key that has this value in the file. */
  readonly placed: (words: string, asked: Values) => string;
};

/** Reads a configuration's file. Throws a `UsageError` with the line for one that is not a configuration. */
export function readTrainingFile(path: string, cwd: string): TrainingFile {
  const file = resolve(cwd, path);
  const source = readSource(file, 'training');
  if ('problem' in source) throw new UsageError(formatDiagnostic(source.problem, cwd));
  const { value, places, problem } = parseYaml(source.source, 'training');
  if (problem) throw new UsageError(formatDiagnostic(problem, cwd));
  const at = (key: string) => `${path}:${places.key([key]).line}`;
  if (!isObject(value as Json))
    throw new UsageError(
      `${path}:1: expected keys and values, such as kind: grpo. "npx rehearsal train --explain" has them`,
    );
  const { kind: named, ...written } = value as Values;
  const kind = trainingKinds.find((each) => each === named);
  if (!kind)
    throw new UsageError(
      named === undefined
        ? `${path}:1: kind is missing: one of ${trainingKinds.join(', ')}`
        : `${at('kind')}: kind: expected one of ${trainingKinds.join(', ')}, found ${JSON.stringify(named)}`,
    );
  const keys = new Map(trainingKeys(kind).map((key) => [key.name, key]));
  for (const key of Object.keys(written))
    if (keys.get(key)?.isGiven)
      throw new UsageError(`${at(key)}: ${key}: the command line sets this key; remove it from the file`);
  const values = wholePaths(kind, written, dirname(file));
  return {
    kind,
    values,
    placed: (words, asked) => {
      const key = keyIn(words);
      return key !== undefined && key in values && asked[key] === values[key] ? `${at(key)}: ${words}` : words;
    },
  };
}

/** The key that the trainer's words begin with, where they are about one. */
export function keyIn(words: string): string | undefined {
  return /^([a-z_]+):/.exec(words)?.[1];
}

/** The values of a kind of run, with the paths that are relative to a folder as whole ones. */
export function wholePaths(kind: TrainingKind, values: Values, folder: string): Values {
  const paths = new Set(trainingKeys(kind).flatMap(({ name, isPath }) => (isPath ? [name] : [])));
  return Object.fromEntries(
    Object.entries(values).map(([key, each]) => [
      key,
      paths.has(key) ? withPaths(each, folder, key === 'model') : each,
    ]),
  );
}

/**
 * Paths relative to the file that they are written in, as whole ones.
 * @param mayBeName whether a text is a path only where there is something
 */
function withPaths(value: Json, folder: string, mayBeName: boolean): Json {
  if (typeof value === 'string') {
    const path = resolve(folder, value);
    return mayBeName && !existsSync(path) ? value : path;
  }
  if (Array.isArray(value)) return value.map((each) => withPaths(each, folder, mayBeName));
  if (isObject(value) && typeof value['folder'] === 'string')
    return { ...value, folder: resolve(folder, value['folder']) };
  return value;
}
