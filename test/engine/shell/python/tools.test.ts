import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { describeCodeTools, describeExternalTools } from '../../../../src/engine/shell/describe.ts';
import { check } from '../../../../src/engine/shell/domain/check.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { approveDomain } from '../../../support/approval.ts';
import { rehearse, replayed } from '../../../support/rehearsed.ts';
import { inFullSuite, sampled } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { folderOf } from '../load/domainFolder.ts';

const library = fileURLToPath(new URL('library', import.meta.url));
afterEach(() => vi.unstubAllEnvs());

test('schemas come from type hints and docstrings', async () => {
  const tools = await describeExternalTools(loadDomain(library));
  expect(tools.find(({ name }) => name === 'add_note')).toEqual({
    name: 'add_note',
    description: 'Keep a note.',
    parameters: {
      type: 'object',
      properties: {
        text: { type: 'string' },
        kind: { type: 'string', enum: ['remark', 'warning'], default: 'remark' },
      },
      required: ['text'],
      additionalProperties: false,
    },
    effect: 'write',
    owner: 'agent',
    source: { type: 'python' },
    timeoutMs: 10_000,
    idempotent: false,
  });
  expect(tools.find(({ name }) => name === 'extend_loan')?.parameters).toMatchObject({
    properties: { title: { description: 'Title of the book.', type: 'string' } },
  });
});

test('the gold seat serves the task, and the replay is the recording', async () => {
  const [extend] = await rehearse(library, ['extend'], { agent: { type: 'gold' } });
  expect(extend).toMatchObject({ reward: 1, endReason: 'userStopped' });
  if (extend) expect(replayed(library, extend)).toEqual({ problems: 0, steps: extend.events.length });
});

inFullSuite('the same seed gives the same bytes, beside whatever else runs', async () => {
  const bytes = async (...beside: readonly string[]) => {
    const [first] = await rehearse(library, ['every-call', ...beside]);
    return readFileSync(first?.recording ?? '', 'utf8');
  };
  expect(await bytes('slow', 'every-call')).toBe(await bytes());
});

test('errors are results, a failed write leaves no trace, no key gets in, and prints disturb nothing', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-not-for-tools');
  const logged: string[] = [];
  const [all] = await rehearse(library, ['every-call'], { log: (text) => logged.push(text) });
  expect(all?.results).toEqual([
    '{"name":"Ada Okoro","loans":{"Dune":{"due":"2026-01-09","extended":0}}}',
    'Error: there is no reader R9',
    'Error: the arguments of extend_loan do not fit: due must be of type string.',
    'Error: it broke halfway',
    'Error: a read tool may not write. Declare its effect as write',
    expect.stringMatching(/^\{"note":"N\d{8}","notes":1\}$/),
    expect.stringMatching(/^\{"note":"N\d{8}","notes":2\}$/),
    '[]',
    'no input',
  ]);
  const written = all?.events.flatMap((event) => (event.type === 'databaseWritten' ? event.writes : [])) ?? [];
  expect(written.map(({ patches }) => patches.map(({ op, path }) => [op, path[0]]))).toEqual([
    [['add', 'notes']],
    [['add', 'notes']],
  ]);
  expect(logged.join('\n')).toMatch(/change_and_fail: it broke halfway \(.*tools\.py:\d+\)/);
  if (all) expect(replayed(library, all).problems).toBe(0);
});

test('a call that hangs, or ends its process, ends its rollout alone', async () => {
  const [hangs, dies, ...others] = await rehearse(library, ['hangs', 'dies', 'slow', 'slow']);
  expect(hangs).toMatchObject({
    endReason: 'environmentFailed',
    reward: null,
    failure: {
      code: 'tool/hung',
      message: 'tools.py: hang did not end within 400 ms and was stopped',
      file: `${library}/tools.py`,
    },
  });
  expect(dies).toMatchObject({
    endReason: 'environmentFailed',
    failure: { code: 'python/died', message: expect.stringContaining('its process ended with exit code 7') },
  });
  for (const other of others) {
    expect(other).toMatchObject({ endReason: 'userStopped', failure: null });
    // The next process has the writes from before the process was lost.
    expect(other.results.at(-1)).toBe('1');
  }
});

inFullSuite('equal reads are made once until something is written', async () => {
  const folder = folderOf({
    'domain.yaml': 'name: counted\n',
    'policy.md': '# Counted\n',
    'database.json': '{"rows": {}}',
    'personas/a.persona.yaml': 'id: a\ndescription: Someone.\n',
    'tools.py': `from rehearsal import tool
made = 0
@tool(effect="read", cache=True)
def look(at: int) -> int:
    """Looks."""
    global made
    made += 1
    return made
@tool(effect="write")
def keep(db) -> None:
    """Keeps."""
    db.rows["1"] = {"kept": True}
`,
    'tasks/a.task.yaml': `id: a
persona: a
user: { goal: You want to look., known: { at: 1 } }
actions: [{ tool: keep }]
script:
  - - { tool: look, arguments: { at: 1 } }
  - - { tool: look, arguments: { at: 1 } }
  - - { tool: look, arguments: { at: 2 } }
  - - { tool: keep }
  - - { tool: look, arguments: { at: 1 } }
  - Done.
`,
  });
  const [counted] = await rehearse(folder, ['a']);
  expect(counted?.results).toEqual(['1', '1', '2', 'ok', '3']);
  expect(counted?.reward).toBe(1);
});

const weighing = `(value: Any, count: int = 0, more: Any = None) -> str:
    """Says what it was given."""
    return f"{value!r} {count!r} {more!r}"
`;
const scales: readonly (readonly [where: string, files: Record<string, string>])[] = [
  [
    'tools.py',
    {
      'domain.yaml': 'name: scales\n',
      'database.json': '{}',
      'tools.py': `from typing import Any
from rehearsal import tool
@tool(effect="read", cache=True)
def weigh${weighing}`,
    },
  ],
  [
    'an environment',
    {
      'domain.yaml': 'name: scales\nenvironments:\n  scales: { file: environment.py, state: none }\n',
      'environment.py': `from typing import Any
from rehearsal import Environment
def weigh${weighing}
class Scales(Environment):
    def load(self):
        return {}
    def make(self, db):
        return None
    def tools(self, toolkit):
        return {"weigh": weigh}
`,
    },
  ],
];

test.each(sampled(scales, 2))(
  'a tool of %s can tell whole numbers written as floats from integers',
  async (_, files) => {
    const folder = folderOf({
      'policy.md': '# Scales\n',
      'personas/a.persona.yaml': 'id: a\ndescription: Someone.\n',
      'tasks/a.task.yaml': `id: a
persona: a
user: { goal: You want to weigh., known: { at: 1 } }
evaluate: [communicate]
train: [communicate]
communicate: [Done]
script:
  - - { tool: weigh, arguments: { value: 5 } }
  - - { tool: weigh, arguments: { value: 5 }, floats: [/value] }
  - - { tool: weigh, arguments: { value: 5, count: 2, more: [{ a: 1 }, 1] }, floats: [/count, /more/0/a] }
  - Done.
`,
      ...files,
    });
    const [weighed] = await rehearse(folder, ['a']);
    // A parameter that is declared as int gets one: JSON Schema counts 2.0 as an integer.
    expect(weighed?.results).toEqual(['5 0 None', '5.0 0 None', "5 2 [{'a': 1.0}, 1]"]);
  },
);

const broken = { 'database.json': '{}', 'tools.ts': null, 'rules.yaml': null, 'tasks/first.task.yaml': null };
const failures: readonly {
  readonly name: string;
  readonly files: Record<string, string | null>;
  readonly found: RegExp;
}[] = [
  {
    name: 'an interpreter that is not there',
    files: { 'domain.yaml': 'name: desk\npython: /nowhere/python3\n', 'tools.py': '# No tools.\n' },
    found:
      /python\/missing tools.py: needs Python 3.10 or newer, and \/nowhere\/python3 is not a Python interpreter. Install it, or name one with python:/,
  },
  {
    name: 'a program that is not Python',
    files: { 'domain.yaml': 'name: desk\npython: "false"\n', 'tools.py': '# No tools.\n' },
    found:
      /python\/missing tools.py: needs Python 3.10 or newer, and false is not a Python interpreter: it ended with exit code 1. Install it, or name one with python:/,
  },
  {
    name: 'a program that is not Python and exits without an error',
    files: { 'domain.yaml': 'name: desk\npython: "true"\n', 'tools.py': '# No tools.\n' },
    found:
      /python\/missing tools.py: needs Python 3.10 or newer, and true is not a Python interpreter: it ended with exit code 0/,
  },
  {
    name: 'a program that says something else',
    files: { 'domain.yaml': 'name: desk\npython: echo\n', 'tools.py': '# No tools.\n' },
    found: /python\/missing tools.py: needs Python 3.10 or newer, and echo is not a Python interpreter: it says -u -B /,
  },
  {
    name: 'code that ends its process',
    files: { 'tools.py': 'import os\nos._exit(0)\n' },
    found: /python\/died tools.py: its process ended with exit code 0/,
  },
  ...['0', 'True', '2.5', '2**31', '"10"'].map((time) => ({
    name: `the time limit ${time}`,
    files: {
      'tools.py': `from rehearsal import tool\n@tool(effect="read", timeout_ms=${time})\ndef look() -> str: ...\n`,
    },
    found: /tools.py:2 tool\/code TypeError: timeout_ms is a whole number of milliseconds, from 1 to 2147483647, not /,
  })),
  {
    name: 'a syntax error',
    files: { 'tools.py': 'from rehearsal import tool\ndef broken(:\n' },
    found: /tools.py:2 tool\/code SyntaxError/,
  },
  {
    name: 'an exception while it is loaded',
    files: { 'tools.py': 'from rehearsal import tool\n\nraise ValueError("not today")\n' },
    found: /tools.py:3 tool\/code ValueError: not today/,
  },
  {
    name: 'a type that JSON cannot carry',
    files: {
      'tools.py': 'from rehearsal import tool\n@tool(effect="read")\ndef look(at: complex) -> str:\n  """Looks."""\n',
    },
    found: /tools.py:2 tool\/bad-schema look has the argument at of the type complex, which JSON can't carry/,
  },
  {
    name: 'a type that is not defined',
    files: {
      'tools.py':
        'from rehearsal import tool\n@tool(effect="read")\ndef look(db: "Shop", at: "Place") -> "Shop":\n  """Looks."""\n',
    },
    found: /tools.py:2 tool\/bad-schema look has the argument at of an unknown type: name 'Place' is not defined/,
  },
];

test.each(sampled(failures, 2))('$name is one clear finding', async ({ files, found }) => {
  const folder = folderOf({
    'domain.yaml': 'name: desk\n',
    'policy.md': '# Desk\n',
    'personas/plain.persona.yaml': 'id: plain\ndescription: Someone.\n',
    ...broken,
    ...files,
  });
  approveDomain(folder);
  const { diagnostics } = await check({
    folder,
    describeTools: () => describeCodeTools(loadDomain(folder)),
    describeExternal: describeExternalTools,
  });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ file, line, code, message }) => `${file}:${line} ${code} ${message}`).join('\n')).toMatch(found);
  expect(errors).toHaveLength(1);
});

inFullSuite('the gold seat tries again after a seeded outage', async () => {
  const tasks = readFileSync(join(library, 'tasks/loans.task.yaml'), 'utf8');
  const faults =
    'faults: [{ type: outage, tool: extend_loan, calls: [1] }, { type: outage, tool: find_reader, times: 1 }]';
  const folder = temporaryFolder('rehearsal-library');
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(library, folder, { recursive: true });
  writeFileSync(
    join(folder, 'tasks/loans.task.yaml'),
    tasks.replace('- id: every-call', `  ${faults}\n- id: every-call`),
  );
  const [extend] = await rehearse(folder, ['extend'], { agent: { type: 'gold' } });
  expect(extend?.events.filter(({ type }) => type === 'faultInjected')).toHaveLength(2);
  expect(extend).toMatchObject({ reward: 1 });
  if (extend) expect(replayed(folder, extend).problems).toBe(0);
});
