import { expect, test } from 'vitest';
import { runArguments } from '../../../src/extension/assistant/runArguments.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const runs = temporaryFolder('rehearsal-asked');
const asked = (task: string, agent?: string) => runArguments({ folder: '/desk', runs, task, agent });

test('a task is played in a separate run, with the requested seat', () => {
  const [command, folder, task, ...rest] = asked('lamp-variant', 'openai:small');
  expect([command, folder, task]).toEqual(['run', '/desk', 'lamp-variant']);
  expect(rest).toEqual([
    '--json',
    '--out',
    expect.stringMatching(/[\\/]\d{8}-\d{6}-lamp-variant$/),
    '--agent',
    'openai:small',
  ]);
  expect(asked('lamp-variant')).not.toContain('--agent');
});

test.each(['--user=openai:m@http://127.0.0.1:9/v1', '-h', '../../elsewhere', 'a/b', '', 'a b'])(
  '%j is not a task',
  (task) => {
    expect(() => asked(task)).toThrow(/is not a task id/);
  },
);

test.each(['openai:m@https://elsewhere.example/v1', 'agent:/tmp/agent.yaml', 'human', '--out=/tmp', 'openai:', ''])(
  '%j takes no seat: a key of the person would go where a text said',
  (agent) => {
    expect(() => asked('lamp-variant', agent)).toThrow(/the endpoint of a model is set by a person/);
  },
);
