import { expect, test } from 'vitest';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { folderOf } from '../load/domainFolder.ts';

const files = {
  'domain.yaml': 'name: hostile\n',
  'policy.md': '# Hostile\n',
  'database.json': '{"rows": {}}',
  'personas/a.persona.yaml': 'id: a\ndescription: Someone.\n',
  'tools.py': `from typing import Any
from rehearsal import ToolError, tool

class Mute(Exception):
    def __str__(self):
        raise ValueError("no text")

@tool(effect="read")
def echo(value: Any) -> str:
    """Returns what it is given."""
    return value if isinstance(value, str) else "not a text"

@tool(effect="write")
def keep(db, value: Any) -> str:
    """Stores a value."""
    db.rows["1"] = {"value": value}
    return "kept"

@tool(effect="read")
def refuse(value: Any) -> str:
    """Names the value in its error."""
    raise ToolError(f"there is no {value}")

@tool(effect="read")
def mute(value: Any) -> str:
    """Raises an error without a text."""
    raise Mute()

@tool(effect="read")
def circle(value: Any) -> Any:
    """Returns a list that contains itself."""
    made: list = []
    made.append(made)
    return made

@tool(effect="read")
def number(value: Any) -> Any:
    """Returns a number that JSON cannot hold."""
    return {"nan": float("nan"), "long": 10 ** 5000}[value]

@tool(effect="read")
def interrupt(value: Any) -> str:
    """Ends like Ctrl+C."""
    raise KeyboardInterrupt()
`,
};

const cases: readonly (readonly [what: string, tool: string, value: string, result: unknown])[] = [
  ['a lone surrogate in a result', 'echo', '"\\ud83d"', '\ud83d'],
  ['a lone surrogate in an error', 'refuse', '"\\ud83d"', 'Error: there is no \ud83d'],
  ['a lone surrogate in the database', 'keep', '"\\ud83d"', 'kept'],
  ['an exception without a text', 'mute', '1', 'Error: Mute'],
  ['a circle', 'circle', '1', expect.stringMatching(/^Error: maximum recursion depth exceeded/)],
  ['not a number', 'number', '"nan"', 'Error: Out of range float values are not JSON compliant'],
  ['a number of 5000 digits', 'number', '"long"', expect.stringMatching(/^Error: Exceeds the limit \(4300 digits\)/)],
  ['a KeyboardInterrupt', 'interrupt', '1', 'Error: KeyboardInterrupt'],
];

test('no input or result ends the process', async () => {
  const tasks = cases.map(
    ([, tool, value], at) => `- id: case-${at}
  persona: a
  split: test
  user:
    goal: Try.
  script:
    - [{ tool: ${tool}, arguments: { value: ${value} } }]
    - [{ tool: echo, arguments: { value: "alive" } }]
    - Done.
  evaluate: [database]
  actions: []
`,
  );
  const folder = folderOf({ ...files, 'tasks/a.task.yaml': tasks.join('') });
  const all = await rehearse(
    folder,
    cases.map((_, at) => `case-${at}`),
  );
  expect(all).toHaveLength(cases.length);
  for (const [at, [what, , , result]] of cases.entries()) {
    const closed = all[at];
    expect([closed?.endReason, closed?.failure, closed?.results], what).toEqual([
      'userStopped',
      null,
      [result, 'alive'],
    ]);
    if (closed) expect(replayed(folder, closed).problems, what).toBe(0);
  }
});
