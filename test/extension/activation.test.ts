import { dirname } from 'node:path';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { extensionBundle } from '../../scripts/build.ts';

it('activation loads neither a library nor a reader of domains: each is a file that is read when it is first used', async () => {
  const { metafile } = await build({ ...extensionBundle(true), plugins: [], metafile: true, write: false });
  const { outputs } = metafile;
  const entry = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === 'src/extension/main.ts') ?? '';
  expect(dirname(entry)).toBe('dist');
  const atOnce = new Set([entry]);
  for (const path of atOnce) {
    for (const { kind, path: imported, external } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && external !== true) atOnce.add(imported);
  }
  const sources = [...atOnce].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
  expect(sources).toContain('src/extension/commands.ts');
  expect(sources.filter((source) => /node_modules|engine\/shell\/load|engine\/core\/dialogue/.test(source))).toEqual(
    [],
  );
  const later = Object.keys(outputs).filter((path) => !atOnce.has(path));
  const read = later.flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
  expect(read).toContain('src/engine/shell/domain/loadDomain.ts');
});
