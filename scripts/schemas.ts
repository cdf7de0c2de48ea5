import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonSchemas } from '../src/engine/shell/source/schemas.ts';
import { trainingSchema } from '../src/training/trainingKeys.ts';
import { inRoot } from './repository.ts';

/** Writes `dist/schemas/<name>.json`: the JSON Schemas of the files that people write, for the editor. */
export function writeSchemas(): void {
  const folder = inRoot('dist', 'schemas');
  mkdirSync(folder, { recursive: true });
  for (const [name, schema] of Object.entries({ ...jsonSchemas(), training: trainingSchema() })) {
    writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(schema)}\n`);
  }
}
