import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { InstanceFolder } from '../../../../src/engine/shell/mcp/instanceFolder.ts';
import { folderOf } from '../load/domainFolder.ts';

test('a folder that is removed and made again gets its start state again', () => {
  const start = folderOf({ 'a.txt': 'a' });
  const folder = new InstanceFolder();
  onTestFinished(() => folder.remove());
  for (const _ of ['first', 'second']) {
    folder.make();
    folder.copyOnce(start, start);
    expect(readdirSync(folder.path)).toEqual(['a.txt']);
    folder.remove();
  }
});
