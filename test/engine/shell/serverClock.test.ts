import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { programPath } from '../../../src/engine/shell/processes/sandbox.ts';
import { approveDomain } from '../../support/approval.ts';
import { inFullSuite } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

const fixture = fileURLToPath(new URL('fixtures/mcpServer.mjs', import.meta.url));
const task = (id: string, more: string, that: string) => `- id: ${id}
  persona: plain
${more}  user: { goal: You want to know the time., opening: What time is it? }
  assertions:
    - { in: watch, that: '${that}' }
  evaluate: [assertions]
  actions: [{ tool: clock }]
`;

/** A domain whose server returns the time that it was given, and the time of its clock. */
function domainWith(server: string, ...tasks: string[]): string {
  const folder = temporaryFolder('server-clock');
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write(
    'domain.yaml',
    `name: watch-desk\nnow: "2026-03-02T10:00:00Z"\nmcpServers:\n  watch:\n    reader: { tool: clock }\n${server}`,
  );
  write('policy.md', '# Watch desk\n');
  write('personas/plain.persona.yaml', 'id: plain\ndescription: A person who asks.\n');
  write('tasks/time.task.yaml', tasks.join(''));
  approveDomain(folder);
  return folder;
}

async function rewardOf(folder: string, id: string): Promise<unknown> {
  const { out, err } = await rehearsal('run', folder, id, '--json');
  const line = out.trim().split('\n').at(-1) ?? err;
  return (JSON.parse(line) as { reward: unknown }).reward;
}

inFullSuite('a server is given the date of the task, otherwise that of the domain', async () => {
  const folder = domainWith(
    `    command: ${JSON.stringify(process.execPath)}\n    args: [${JSON.stringify(fixture)}]\n    env: { NOW: "\${now}" }\n`,
    task('usual', '', 'state.given == "2026-03-02T10:00:00Z"'),
    task('later', '  now: "2026-07-01T08:00:00Z"\n', 'state.given == "2026-07-01T08:00:00Z"'),
  );
  expect([await rewardOf(folder, 'usual'), await rewardOf(folder, 'later')]).toEqual([1, 1]);
});

test.runIf(programPath('faketime'))(
  'under faketime, the clock of a Node server has that date (docs/mcp-cookbook.md)',
  async () => {
    const folder = domainWith(
      `    command: faketime
    args: [-f, "\${now}", ${JSON.stringify(process.execPath)}, ${JSON.stringify(fixture)}]
    env: { TZ: UTC, FAKETIME_FMT: "%Y-%m-%dT%H:%M:%SZ", DONT_FAKE_MONOTONIC: "1" }
`,
      task('usual', '', 'state.own == "2026-03-02T10:00:00.000Z"'),
    );
    expect(await rewardOf(folder, 'usual')).toBe(1);
  },
);
