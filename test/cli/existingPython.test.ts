import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { interpreterOf } from '../../src/cli/python/pythonEnvironment.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal, rehearsalIn } from '../support/terminal.ts';

describe('how a person names an interpreter', () => {
  test.each([
    ['python3', ['python3']],
    ['/opt/a b/python', ['/opt/a b/python']],
    ['./venv/bin/python', ['/work/venv/bin/python']],
    ['venv/bin/python', ['/work/venv/bin/python']],
    ['["docker", "run", "a b", "python"]', ['docker', 'run', 'a b', 'python']],
    [
      ['apptainer', 'exec', 'python'],
      ['apptainer', 'exec', 'python'],
    ],
  ])('%j', (named, command) => {
    expect(interpreterOf(named, '/work')).toEqual(command);
  });

  test('a path of another machine stays as it is', () => {
    expect(interpreterOf('venv/bin/python', undefined)).toEqual(['venv/bin/python']);
  });

  test.each(['', '[]', '["docker", 1]', '["docker"', 7, {}])('%j is refused', (named) => {
    expect(() => interpreterOf(named, '/work')).toThrow(/^python: expected a path, or a list such as /);
  });
});

describe.skipIf(process.platform === 'win32')('an existing Python', () => {
  const scratch = temporaryFolder('rehearsal-existing');
  const python = join(scratch, 'python');
  const program = join(scratch, 'container');
  const asked = join(scratch, 'asked');
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  // A container's command: it logs its arguments and starts the interpreter that follows them.
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$*" >> "${asked}"\nshift 2\nexec "$@"\n`, { mode: 0o755 });
  writeFileSync(
    python,
    `#!/bin/sh
case "$1" in *setup_environment.py) echo '{"python": "elsewhere", "ready": true, "node": "/in/node"}'; exit ;; esac
case "$*" in
  *--check) cat > /dev/null; echo '{"disk": 0, "free": 1}' ;;
  *--config*) echo "$*" > command; echo '{"type": "finished"}' >> events.jsonl ;;
esac
`,
    { mode: 0o755 },
  );
  const inContainer = [program, 'run', 'the image', python];

  test('in a container gets every call behind its own arguments, and the engine its Node.js', async () => {
    const run = join(scratch, 'run');
    const named = ['--python', JSON.stringify(inContainer), '--set', 'evaluate_every=0'];
    const { code, err } = await rehearsal('train', 'grpo', 'domains/parcel-desk', '--out', run, ...named);
    expect({ code, err }).toMatchObject({ code: 0 });
    const calls = readFileSync(asked, 'utf8').trim().split('\n');
    expect(calls.every((call) => call.startsWith(`run the image ${python} `))).toBe(true);
    expect(calls.some((call) => call.includes('setup_environment.py --existing'))).toBe(true);
    expect(calls.some((call) => call.includes('--profile local'))).toBe(false);
    expect(readFileSync(join(run, 'command'), 'utf8')).toContain('--set engine_command=["/in/node",');
    expect(JSON.parse(readFileSync(join(run, 'launch.json'), 'utf8'))).toMatchObject({ python: inContainer });
  });

  test('can be named in the configuration, relative to where the command runs', async () => {
    const file = join(scratch, 'a.training.yaml');
    writeFileSync(file, `kind: grpo\ndomain: ${join(process.cwd(), 'domains/parcel-desk')}\npython: ./python\n`);
    const train = (...more: string[]) =>
      rehearsalIn(scratch, 'train', '--config', file, '--out', join(scratch, 'configured'), ...more);
    const question = (await train()).err;
    expect(question).toContain(`the key python starts ${python}`);
    const { code, err } = await train('--approve', /--approve (\w+)/.exec(question)?.[1] ?? '');
    expect({ code, err }).toMatchObject({ code: 0 });
    const kept = JSON.parse(readFileSync(join(scratch, 'configured', 'launch.json'), 'utf8'));
    expect(kept).toMatchObject({ python: [python] });
  });

  test('is refused on a Ray cluster', async () => {
    const far = ['--target', 'ray://127.0.0.1:1', '--python', python];
    const { code, err } = await rehearsal('train', 'grpo', 'domains/parcel-desk', ...far);
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringMatching(/python: a Ray cluster trains with its/),
    });
  });
});
