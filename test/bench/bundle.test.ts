import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { bundleBench } from '../../bench/bundle.ts';
import { inRoot } from '../../scripts/repository.ts';

test('bundled code of the bench finds the files that the engine ships', async () => {
  const program = await bundleBench('src/engine/shell/files/shippedFolder.ts', inRoot('.bench', 'test'));
  const { shippedFolder } = (await import(pathToFileURL(program).href)) as { shippedFolder: (name: string) => string };
  const bridge = shippedFolder('bridge');
  expect(bridge).toBe(inRoot('dist', 'bridge'));
  expect(existsSync(join(bridge, 'serve.py'))).toBe(true);
});
