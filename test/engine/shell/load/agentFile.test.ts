import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { agentFilesIn } from '../../../../src/engine/shell/load/agentFile.ts';
import { parseSeat } from '../../../../src/engine/shell/models/parseSeat.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { desk, type Files, folderOf, load, shown, told } from './domainFolder.ts';

const withAgent = (text: string, file = 'mine.agent.yaml'): Files => ({ [file]: text });

it.each([
  [
    'a key that is not known',
    'command: node\narg: [agent.mjs]\n',
    'mine.agent.yaml:2:1 error agent/unknown-key',
    'Did you mean "args"?',
  ],
  [
    'neither a program nor a service',
    'name: mine\n',
    'mine.agent.yaml:1:1 error agent/missing-key',
    'command is missing',
  ],
  ['an empty file', '', 'mine.agent.yaml:1:1 error agent/wrong-type', 'a map of keys and values is expected'],
  ['a list', '- command: node\n', 'mine.agent.yaml:1:1 error agent/wrong-type', 'This is a list'],
  [
    'a wrong type',
    'command: node\ntimeoutMs: soon\n',
    'mine.agent.yaml:2:12 error agent/wrong-type',
    'timeoutMs is "soon"',
  ],
  ['an invalid address', 'url: nowhere\n', 'mine.agent.yaml:1:6 error agent/wrong-value', 'url is "nowhere"'],
  ['broken YAML', 'command: "node\n', 'mine.agent.yaml:1:10 error agent/syntax', 'Add the closing "'],
  [
    'a script that does not exist',
    'command: python3\nargs: [-u, desk/agnt.py]\n',
    'mine.agent.yaml:2:12 error agent/no-program',
    'agnt.py, which does not exist',
  ],
  ['a key twice', 'command: a\ncommand: b\n', 'mine.agent.yaml:2:1 error agent/duplicate-key', 'Keep one of the two'],
  [
    'an invalid model',
    'command: node\nmodel: smollm2\n',
    'mine.agent.yaml:2:8 error agent/model',
    '"smollm2" is not a model',
  ],
])('an agent file with %s is reported at its line, with the message of the seat', (_, text, line, says) => {
  const loaded = load(withAgent(text));
  expect(shown(loaded)).toEqual([line]);
  expect(told(loaded)).toContain(says);
  const seat = parseSeat('agent:mine.agent.yaml', 'agent', 'domain', {}, [loaded.folder]);
  expect(seat).toContain(line.replace('mine', join(loaded.folder, 'mine')));
});

it('agents are found in the folder and its subfolders, and a valid one has no findings', () => {
  const files = {
    'agents/one.agent.yaml': 'comand: node\n',
    'two.agent.yaml': 'command: node\nargs: [agent.mjs]\nmodel: openai:m\n',
    'agent.mjs': '',
    '.venv/three.agent.yaml': 'comand: node\n',
    'node_modules/four.agent.yaml': 'comand: node\n',
  };
  const found = shown(load(files));
  expect(new Set(found.map((each) => each.split(':')[0]))).toEqual(new Set(['agents/one.agent.yaml']));
});

it('a folder that does not exist has no agents', () => {
  expect(agentFilesIn(join(folderOf({}), 'gone'))).toEqual([]);
});

it('the file that domain.yaml names is read once from any folder, and a missing one is reported in domain.yaml', () => {
  const outside = temporaryFolder('agents');
  onTestFinished(() => rmSync(outside, { recursive: true }));
  mkdirSync(outside, { recursive: true });
  const file = join(outside, 'far.agent.yaml');
  writeFileSync(file, 'command: 7\n');
  const far = load({ 'domain.yaml': `name: desk\nagent: agent:${file}\n` });
  expect(far.diagnostics).toMatchObject([{ file, line: 1, column: 10, code: 'agent/wrong-type' }]);
  const near = load({ 'domain.yaml': 'name: desk\nagent: agent:mine.agent.yaml\n', ...withAgent('command: 7\n') });
  expect(shown(near)).toEqual(['mine.agent.yaml:1:10 error agent/wrong-type']);
  const nowhere = load({ 'domain.yaml': 'name: desk\nagent: agent:mine.agent.yaml\n' });
  expect(shown(nowhere)).toEqual(['domain.yaml:2:8 error domain/bad-seat']);
  expect(told(nowhere)).toContain('there is no agent file mine.agent.yaml');
});

it('the agent in domain.yaml has to be a valid seat', () => {
  const robot = load({ 'domain.yaml': 'name: desk\nagent: robot\n' });
  expect(shown(robot)).toEqual(['domain.yaml:2:8 error domain/bad-seat']);
  expect(told(robot)).toContain('"robot" is not a seat for the agent');
  for (const seat of ['gold', 'human', 'openai:m@http://127.0.0.1:1/v1'])
    expect(shown(load({ 'domain.yaml': `name: desk\nagent: ${seat}\n` })), seat).toEqual([]);
});

it('a rollout reads only the file of its own agent, and the editor its unsaved text', () => {
  const folder = folderOf({ ...desk, ...withAgent('comand: node\n') });
  expect(loadDomain(folder, { soundness: false }).diagnostics).toEqual([]);
  const overlay = new Map([
    [join(folder, 'mine.agent.yaml'), 'command: node\n'],
    [join(folder, 'new.agent.yaml'), 'command: 7\n'],
  ]);
  expect(shown(loadDomain(folder, { overlay }))).toEqual(['new.agent.yaml:1:10 error agent/wrong-type']);
});
