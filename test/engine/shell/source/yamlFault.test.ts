import { expect, it } from 'vitest';
import { parseYaml } from '../../../../src/engine/shell/source/yaml.ts';
import { load } from '../load/domainFolder.ts';

it.each([
  ['a: "Hello\nb: 1\n', '1:4', /quote " is not closed/, 'Add the closing ".'],
  ['a: [1, 2\nb: 1\n', '1:4', /bracket \[ is not closed/, 'Add the closing ].'],
  ['a:\n  - { x: { y: 1 }\n  - { x: 2 }\n', '2:5', /bracket { is not closed/, 'Add the closing }.'],
  ['a: 1\n b: 2\n', '2:1', /indented by 1 space, so it continues the text in line 1/, 'Remove the indentation'],
  ['- a: it\n   more\n     c: 1\n', '3:1', /indented by 5 spaces, so it continues .* line 1/, 'Indent it by 2 spaces'],
  ['a: it is: so\n', '1:4', /the text contains a colon followed by a space/, 'needs quotes: "it is: so".'],
  ['a:\n    b: 1\n   c: 2\n', '3:1', /indented by 3 spaces, unlike every key/, 'keys are indented by 0, 4.'],
  ['- a: 1\n  b: 2\n c: 3\n', '3:1', /indented by 1 space, unlike every key/, 'keys are indented by 2.'],
  ['a:\n  b: 1\n\tc: 2\n', '3:1', /indented with a tab/, 'Indent with spaces.'],
  ['a: 1\nb c\n', '2:1', /has no colon/, 'Write b: c'],
  ['a:b\nc: 1\n', '1:1', /has no space after its colon/, 'Write a: b'],
  ['a: 1\n- b\n', '2:1', /item of a list, and its neighbors are keys/, 'Indent it below'],
  ["a: 'it's here'\n", '1:8', /text follows the closing quote/, 'Put all of the text'],
  ['a: @b\n', '1:4', /a text without quotes cannot begin with @/, 'Put the text in quotes.'],
  ['a: %b\n', '1:4', /a text without quotes cannot begin with %/, 'Put the text in quotes.'],
  ['a: { b: 1 c: 2 }\n', '1:9', /not separated by commas/, 'Write a comma between them'],
  ['a: ["b" "c"]\n', '1:9', /a comma is missing between two items/, 'Write a comma'],
  ['a: [b, , c]\n', '1:8', /a comma has no item before it/, 'Remove the comma.'],
  ['a: - b\n', '1:4', /a list begins in the line of its key/, 'in the next line'],
  ['a: 1 }\nb: ]\n', '2:4', /bracket ] closes nothing/, 'Remove it'],
  ['a: "C:\\dir"\n', '1:7', /\\d has no meaning between double quotes/, 'for a backslash'],
  ['a: | b\n', '1:6', /text follows \| or >/, 'Move the text'],
  ['a: "b"#c\n', '1:7', /no space before its #/, 'Write a space before it'],
  ['a: [\n  - b\n]\n', '2:3', /not separated by commas/, 'and no "- "'],
])('%j is reported at %s, with its cause', (text, place, message, hint) => {
  const { problem } = parseYaml({ file: 'a.task.yaml', text }, 'task');
  expect(`${problem?.line}:${problem?.column}`).toBe(place);
  expect(problem?.message).toMatch(message);
  expect(problem?.hint).toContain(hint);
});

it.each([
  ['user:\ngoal: You want it.\n', 4, 'user'],
  ['user: { goal: Go. }\nactions:\n  - tool: find_order\n    arguments:\n    order: W1\n', 7, 'arguments'],
])('a key that lacks its indentation is reported with the key to which it belongs: %j', (text, line, owner) => {
  const loaded = load({ 'tasks/first.task.yaml': `id: a\npersona: plain\n${text}` });
  const found = loaded.diagnostics.find(({ code }) => code === 'task/unknown-key');
  expect([found?.line, found?.hint]).toEqual([
    line,
    `It is a key of ${owner}, which is empty: indent it below ${owner}.`,
  ]);
});
