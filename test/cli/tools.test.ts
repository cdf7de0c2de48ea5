import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { approveDomain } from '../support/approval.ts';
import { smallDomain } from '../support/smallDomain.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const tools = { look: { effect: 'read', run: 'return 1;' }, sweep: { effect: 'write', run: 'return 2;' } } as const;
const task = 'id: one\npersona: plain\nuser: { goal: G. }\nactions:\n  - { tool: look }\n';

test('tools lists what the code, and a model in its place, has; other faults of the domain do not matter', async () => {
  const folder = smallDomain(tools, task.replace('look', 'lok'));
  expect(await rehearsal('tools', folder)).toMatchObject({
    code: 0,
    out: 'look(): read. look\nsweep(): write. sweep\n',
  });
  const { code, out } = await rehearsal('tools', folder, '--json');
  expect(code).toBe(0);
  const { tools: all } = JSON.parse(out) as {
    readonly tools: readonly { readonly name: string; readonly parameters: object }[];
  };
  expect(all.map(({ name }) => name)).toEqual(['look', 'sweep']);
  expect(all[0]?.parameters).toMatchObject({ type: 'object', properties: {} });
});

test('tools --local starts no server', async () => {
  const folder = smallDomain(tools, task, 'mcpServers: { gone: { command: no-such-program-anywhere } }\n');
  expect(await rehearsal('tools', folder, '--local')).toMatchObject({ code: 0, out: expect.stringContaining('sweep') });
  approveDomain(folder);
  expect(await rehearsal('tools', folder)).toMatchObject({
    code: 2,
    err: expect.stringContaining('could not be started'),
  });
});

test('tools reports why code does not load, and a folder that is not a domain', async () => {
  const folder = smallDomain(tools, task);
  const file = join(folder, 'tools.ts');
  writeFileSync(file, `${readFileSync(file, 'utf8')}throw new Error('closed');\n`);
  expect(await rehearsal('tools', folder)).toMatchObject({ code: 2, err: expect.stringContaining('closed') });
  const empty = temporaryFolder('tools');
  expect(await rehearsal('tools', empty)).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no domain here'),
  });
  expect(await rehearsal('tools')).toMatchObject({ code: 2, err: expect.stringContaining('name the folder') });
});
