import { expect, it } from 'vitest';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import { deskTools, type Files, load, shown } from './domainFolder.ts';

const source = (more: string) => `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: object }>();
export const find_order = tool({ description: 'Find.', effect: 'read', input: z.object({ order: z.string() }), run: () => 1 });
export const cancel_order = tool({ description: 'Cancel.', effect: 'write', input: z.object({ order: z.string() }), run: () => 1 });
${more}`;
const press = source("export const press = tool({ owner: 'user', effect: 'write' });\n");
const twoSides: Files = { 'domain.yaml': 'name: desk\nuserDatabase: user.json\n', 'user.json': '{"lamp": {}}' };
const withPress = (more: Partial<Tool> = {}): readonly Tool[] => [
  ...deskTools,
  { ...(deskTools[0] as Tool), name: 'press', owner: 'user', parameters: { type: 'object' }, ...more },
];
const task = (text: string) => `id: cancel
persona: plain
user: { goal: Go., known: { order: W1 }${text.startsWith('script') ? `, ${text}` : ''} }
actions:
  - { tool: find_order, arguments: { order: W1 } }
  - { tool: cancel_order, arguments: { order: W1 } }
  - { tool: press, by: user }
${text.startsWith('script') ? '' : text}`;

const cases: readonly (readonly [string, Files, readonly Tool[], readonly string[], string])[] = [
  [
    'both sides are there',
    { ...twoSides, 'tools.ts': `${press}export function sync() {}\n`, 'tasks/first.task.yaml': task('') },
    withPress(),
    [],
    '',
  ],
  [
    'a sync with one side',
    { 'tools.ts': source('export function sync() {}\n') },
    deskTools,
    ['tools.ts:6:17 warning tool/sync-one-sided'],
    'Name one in domain.yaml: userDatabase: user.json.',
  ],
  [
    'a write of the user without a database of the user',
    { 'tools.ts': press, 'tasks/first.task.yaml': task('') },
    withPress(),
    ['tools.ts:6:14 error tool/no-user-database'],
    "press writes to the user's database, but the domain has none.",
  ],
  [
    'a tool of the user that hands off',
    { ...twoSides, 'tools.ts': press, 'tasks/first.task.yaml': task('') },
    withPress({ handsOff: true }),
    ['tools.ts:6:14 error tool/user-hands-off'],
    'only the agent can hand the conversation over',
  ],
  [
    'a rule about a tool of the user',
    {
      ...twoSides,
      'tools.ts': press,
      'tasks/first.task.yaml': task(''),
      'rules.yaml': '- { rule: confirm, check: before, tools: [press], require: [find_order] }\n',
    },
    withPress(),
    ['rules.yaml:1:43 warning rule/user-tool'],
    'rules apply only to the agent',
  ],
  [
    "a script of the agent's that calls a tool of the user",
    { ...twoSides, 'tools.ts': press, 'tasks/first.task.yaml': task('agent: scripted\nscript: [[{ tool: press }]]\n') },
    withPress(),
    ['tasks/first.task.yaml:9:19 warning task/wrong-seat'],
    'press belongs to the user, but this is the script of the agent.',
  ],
  [
    "a script of the user's that calls a tool of the agent",
    {
      ...twoSides,
      'tools.ts': press,
      'tasks/first.task.yaml': task('script: [[{ tool: find_order, arguments: { order: W1 } }]]'),
    },
    withPress(),
    ['tasks/first.task.yaml:3:60 warning task/wrong-seat'],
    'find_order belongs to the agent, but this is the script of the user.',
  ],
];

it.each(cases)('%s', (_, files, tools, findings, words) => {
  const loaded = load(files, tools);
  expect(shown(loaded)).toEqual(findings);
  expect(loaded.diagnostics.map(({ message, hint }) => `${message} ${hint}`).join()).toContain(words);
});

it.each([
  ['export function sync({ db }) {}', true],
  ['export const sync = ({ db }) => undefined;', true],
  ["export { sync } from './sync.ts';", true],
  ['// export function sync() {}', false],
  ['function sync() {}', false],
  ['export function synchronous() {}', false],
])('whether "%s" is a sync is known without running it', (line, is) => {
  const loaded = load({ 'tools.ts': source(`${line}\n`), 'sync.ts': 'export function sync() {}\n' });
  expect(loaded.domain.sync).toBe(is);
});
