import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalApproved, rehearsalTyped } from '../support/terminal.ts';

const fixture = fileURLToPath(new URL('../engine/shell/fixtures/mcpServer.mjs', import.meta.url));
const scratch = temporaryFolder('server-session');
const folder = join(scratch, 'counting');
const at = (...path: string[]) => join(folder, ...path);

inFullSuite(
  'a server becomes a domain that reads its state, and a session by hand becomes a task about it',
  async () => {
    const server = `${JSON.stringify(process.execPath)} ${JSON.stringify(fixture)} good`;
    const made = await rehearsalApproved('new', folder, '--mcp', server, '--writes', 'add');
    expect(made.err).toContain('looking for the tool that shows the state');
    const declared = parse(readFileSync(at('domain.yaml'), 'utf8')).mcpServers;
    const [name = ''] = Object.keys(declared);
    expect(declared[name]).toMatchObject({ reader: { tool: 'state' } });
    expect(parse(readFileSync(at('tasks', 'add.task.yaml'), 'utf8'))).toMatchObject({
      assertions: [{ in: name, sameAs: 'gold' }],
      evaluate: ['assertions'],
    });

    const typed = [
      'Please add 4.',
      'I will add 4. Shall I do that?',
      'Yes, please.',
      '/call add {"by": 4}',
      'Done, I added 4.',
      '/stop',
    ];
    const run = join(scratch, 'session');
    const seats = ['--agent', 'human', '--user', 'human'];
    const played = await rehearsalTyped(typed, 'run', folder, 'add', ...seats, '--out', run);
    expect(played.out).toContain('call      add(by: 4)');
    const drafted = await rehearsal('draft', 'task', join(run, 'add.0.traj.jsonl'), '--id', 'add-four');
    expect(drafted.out).toMatch(/sound\s+task add-four/);
    const task = parse(readFileSync(at('tasks', 'add-four.task.yaml'), 'utf8'));
    expect(task).toMatchObject({
      user: { opening: 'Please add 4.', known: { by: 4 } },
      actions: [{ tool: 'add', arguments: { by: 4 } }],
      assertions: [{ in: name, sameAs: 'gold' }],
    });
    expect((await rehearsal('draft', 'accept', folder, 'add-four')).code).toBe(0);

    expect((await rehearsal('run', folder, 'add-four')).out).toContain('reward 1');
    const script =
      'script:\n  - I will add 4. Shall I do that?\n  - [{ tool: add, arguments: { by: 5 } }]\n  - Done, I added 4.\n';
    const path = at('tasks', 'add-four.task.yaml');
    writeFileSync(path, `${readFileSync(path, 'utf8')}${script}`);
    expect((await rehearsal('run', folder, 'add-four', '--agent', 'scripted')).out).toMatch(
      /reward 0 .*count is 5; after the gold actions it is 4/,
    );
  },
);
