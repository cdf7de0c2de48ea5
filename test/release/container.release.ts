import { globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inRoot } from '../../scripts/repository.ts';
import { emptyFolder, partOf, run } from './parts.ts';

/** The steps of the container file, each as its instruction and the rest. Comments and continued lines are resolved. */
const steps = readFileSync(inRoot('.github', 'container', 'Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ')
  .trim()
  .split('\n')
  .map((line) => /^(\w+)\s+(.*)$/.exec(line)?.slice(1) as [string, string]);
const restOf = (instruction: string) => steps.flatMap(([name, rest]) => (name === instruction ? [rest] : []));

/** Commands of the container that change the system of the machine, so that they do not run here. */
const ofSystem = /^(?:apt-get (?:update|install [\w\s-]+)|rm -rf \/var\/lib\/apt\/lists\/\*)$/;

/** The root of the container. No container engine is needed. */
const container = emptyFolder();
const inContainer = (path: string) => join(container, path);
const environment = {
  ...process.env,
  npm_config_prefix: inContainer('/usr/local'),
  npm_config_offline: 'true',
  PATH: `${inContainer('/usr/local/bin')}:${process.env['PATH']}`,
};

beforeAll(() => {
  for (const folder of ['/tmp', '/usr/local']) mkdirSync(inContainer(folder), { recursive: true });
});
afterAll(() => rmSync(container, { recursive: true, force: true }));

test('it builds step by step from the packed files, and its entry point checks and evaluates a domain', () => {
  const context = dirname(partOf('.tgz'));
  for (const [instruction, rest] of steps) {
    if (instruction === 'COPY') {
      const [pattern = '', to = ''] = rest.split(/\s+/);
      const copied = globSync(pattern, { cwd: context });
      expect(copied, `COPY ${rest}`).toEqual([basename(partOf('.tgz'))]);
      expect(run(context, 'cp', [copied[0] ?? '', inContainer(to)])).toMatchObject({ code: 0 });
    } else if (instruction === 'RUN') {
      const commands = rest.split('&&').map((command) => command.trim().replaceAll(/\s+/g, ' '));
      for (const command of commands.filter((each) => !ofSystem.test(each))) {
        const here = command.replaceAll(/(?<= )\/tmp\//g, `${inContainer('/tmp')}/`);
        expect(run(container, 'sh', ['-c', here], environment), command).toMatchObject({ code: 0 });
      }
    }
  }
  const [work = ''] = restOf('WORKDIR');
  mkdirSync(inContainer(work), { recursive: true });
  const [entry = ''] = JSON.parse(restOf('ENTRYPOINT')[0] ?? '[]') as string[];
  const start = (...args: string[]) => run(inContainer(work), entry, args, environment);
  expect(start('new', 'desk', '--sample', 'order-desk')).toMatchObject({ code: 0 });
  expect(start('check', 'desk')).toMatchObject({ code: 0, output: expect.stringContaining('no findings') });
  expect(start('eval', 'desk', '--agent', 'gold', '--gate', 'reward>=1')).toMatchObject({ code: 0 });
  expect(run(container, 'sh', ['-c', 'command -v rehearsal'], environment).output.trim()).toBe(
    inContainer('/usr/local/bin/rehearsal'),
  );
});

test('its Node.js is one that the package supports, and its user is not root', () => {
  const [image = ''] = restOf('FROM');
  const { engines } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')) as { engines: { node: string } };
  const [, oldest] = /^>=(\d+)/.exec(engines.node) ?? [];
  expect(Number(/^node:(\d+)-/.exec(image)?.[1])).toBeGreaterThanOrEqual(Number(oldest));
  expect(restOf('USER')).toEqual(['node']);
});
