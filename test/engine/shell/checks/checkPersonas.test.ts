import { expect, test } from 'vitest';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { desk, folderOf } from '../load/domainFolder.ts';

const attack = (more: string) => `attacks:
  - { aim: Get it., say: [Give it to me.], wants: deed, breach: It was given.${more} }
`;

const bad: readonly { readonly name: string; readonly yaml: string; readonly found: readonly (string | number)[] }[] = [
  {
    name: 'a range without a reply',
    yaml: 'behaviours:\n  evades: { from: 4, to: 2 }\n',
    found: ['persona/empty-range', 'error', 4, 26],
  },
  {
    name: 'a range of an attack without a reply',
    yaml: attack(', from: 3, to: 1'),
    found: ['persona/empty-range', 'error', 4],
  },
  {
    name: 'a reply that never comes',
    yaml: 'behaviours:\n  evades: { from: 90, to: 95 }\n',
    found: ['persona/never-happens', 'warning', 4],
  },
  {
    name: 'a chance of none',
    yaml: 'behaviours:\n  evades: { chance: 0 }\n',
    found: ['persona/never-happens', 'warning', 4],
  },
  {
    name: 'a stop word in the text of an attack',
    yaml: attack('').replace('Give it to me.', '"Bye ###STOP###"'),
    found: ['persona/stop-word', 'error', 4],
  },
  {
    name: 'an unknown behaviour',
    yaml: 'behaviours:\n  interupts: true\n',
    found: ['persona/unknown-key', 'error', 4, 3],
  },
  {
    name: 'a behaviour that is a text',
    yaml: 'behaviours:\n  evades: often\n',
    found: ['persona/wrong-type', 'error', 4],
  },
  {
    name: 'a chance beyond 1',
    yaml: 'behaviours:\n  evades: { chance: 1.5 }\n',
    found: ['persona/wrong-value', 'error', 4],
  },
  {
    name: 'an attack that says nothing',
    yaml: attack('').replace('[Give it to me.]', '[]'),
    found: ['persona/wrong-value', 'error', 4],
  },
  {
    name: 'an attack without a breach',
    yaml: attack('').replace(', breach: It was given.', ''),
    found: ['persona/missing-key', 'error', 4],
  },
  {
    name: 'an attack for something else',
    yaml: attack('').replace('wants: deed', 'wants: money'),
    found: ['persona/wrong-value', 'error', 4],
  },
];

test.each(bad)('$name is one finding at its place', ({ yaml, found }) => {
  const [code, severity, line, column] = found;
  const folder = folderOf({ ...desk, 'personas/plain.persona.yaml': `id: plain\ndescription: Someone.\n${yaml}` });
  const findings = loadDomain(folder).diagnostics.filter((each) => each.code.startsWith('persona/'));
  expect(findings).toMatchObject([{ code, severity, line }]);
  if (column !== undefined) expect(findings[0]?.column).toBe(column);
  expect(findings[0]?.hint).not.toBe('');
});

test('an unknown persona under a task is reported with a similar name', () => {
  const folder = folderOf({
    ...desk,
    'tasks/first.task.yaml': `${desk['tasks/first.task.yaml'] as string}under: plane\n`,
  });
  expect(loadDomain(folder).diagnostics).toMatchObject([
    { code: 'task/unknown-persona', line: 9, message: 'There is no persona plane.', hint: 'Did you mean "plain"?' },
  ]);
});

test.each([
  { user: 'robot', code: 'domain/bad-seat', line: 2 },
  { user: '{ train: agenda, evaluate: robot }', code: 'domain/bad-seat', line: 2 },
  { user: '{ train: "openai:x", evaluate: "openai:x" }', code: 'domain/same-simulator', line: 2 },
  { user: '"openai:x"', code: 'domain/same-simulator', line: 2 },
  { user: '{ train: "openai:x", judge: agenda }', code: 'domain/unknown-key', line: 2 },
  {
    user: '"openai:x"\nmodels: { judge: { headers: { A: b } }, user: { headers: { A: b } } }',
    code: 'domain/same-simulator',
    line: 2,
    more: [
      { code: 'domain/unsent-headers', line: 3 },
      { code: 'domain/unsent-headers', line: 3 },
    ],
  },
  {
    user: 'agenda\nmodels: { judge: { modalities: [image] }, agent: { modalities: [image] }, user: { modalities: [] } }',
    code: 'domain/unused-modalities',
    line: 3,
  },
  {
    user: '"openai:x@http://a.example/v1"\nmodels: { user: { headers: { A: b } } }',
    code: 'domain/same-simulator',
    line: 2,
  },
])('user: $user is $code', ({ user, code, line, more = [] }) => {
  const folder = folderOf({ ...desk, 'domain.yaml': `name: desk\nuser: ${user}\n` });
  expect(loadDomain(folder).diagnostics).toMatchObject([{ code, line }, ...more]);
});

test.each([
  'agenda',
  'human',
  '"openai:x"',
  '{ train: agenda, evaluate: "openai:x" }',
  '{ train: "openai:y", evaluate: "openai:x" }',
])('user: %s may be written', (user) => {
  const folder = folderOf({ ...desk, 'domain.yaml': `name: desk\nuser: ${user}\n` });
  expect(loadDomain(folder).diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
});
