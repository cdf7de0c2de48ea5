import { expect, test } from 'vitest';
import { folderOf } from '../engine/shell/load/domainFolder.ts';
import { rehearse } from '../support/rehearsed.ts';
import { sampled } from '../support/suite.ts';

// Invariant: code in Python that finds the output of its bridge ends its own call, not the process that scores.

const tools = `import os
from rehearsal import tool

@tool(effect="read")
def forge(line: str, times: int) -> str:
    """Writes a line to every file that is open."""
    for number in range(1, 40):
        for fd in range(3, 40):
            try:
                os.write(fd, (line * times).replace("ID", str(number)).encode() + b"\\n")
            except OSError:
                pass
    return "written"

@tool(effect="read")
def echo(value: str) -> str:
    """Returns what it is given."""
    return value
`;

const result = (members: object) =>
  `{"id":ID,"result":${JSON.stringify({ content: 'a', isError: false, rows: [], ...members })}}`;
const every: readonly (readonly [what: string, line: string, times?: number])[] = [
  ['null', 'null'],
  ['a number', '1'],
  ['a text', '"python"'],
  ['a list', '[]'],
  ['lists without end', '[', 30_000],
  ['an id that is a text', '{"id":"ID"}'],
  ['an answer without a result', '{"id":ID}'],
  ['a result that is null', '{"id":ID,"result":null}'],
  ['a result that is a text', '{"id":ID,"result":"stale"}'],
  ['a content that is a number', result({ content: 1 })],
  ['an error that is a text', result({ isError: 'no' })],
  ['rows that are an object', result({ rows: {} })],
  ['a row without a path', result({ rows: [1] })],
  ['an error without a message', '{"id":ID,"error":{}}'],
  ['an error whose message is an object', '{"id":ID,"error":{"code":"a","message":{}}}'],
];
/** Each ends a process of Python, which takes half a second to start again. */
const lines = sampled(every, 4);

test('an answer that is forged fails its own call with a clear cause', async () => {
  const tasks = lines.map(
    ([, line, times = 1], at) => `- id: case-${at}
  persona: a
  split: test
  user: { goal: Try. }
  script:
    - [{ tool: forge, arguments: { line: ${JSON.stringify(line)}, times: ${times} } }]
    - [{ tool: echo, arguments: { value: "alive" } }]
    - Done.
  evaluate: [database]
  actions: []
`,
  );
  const folder = folderOf({
    'domain.yaml': 'name: forger\n',
    'policy.md': '# Forger\n',
    'database.json': '{}',
    'personas/a.persona.yaml': 'id: a\ndescription: Someone.\n',
    'tools.py': tools,
    'tasks/a.task.yaml': tasks.join(''),
  });
  const all = await rehearse(
    folder,
    lines.map((_, at) => `case-${at}`),
  );
  const found = all.map(({ reward, failure }, at) => [lines[at]?.[0], reward, failure?.who, failure?.code]);
  expect(found).toEqual(lines.map(([what]) => [what, null, 'environment', 'python/rubbish']));
});
