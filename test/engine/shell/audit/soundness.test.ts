import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audit, withAudit } from '../../../../src/engine/shell/audit/audit.ts';
import { applyFixes } from '../../../../src/engine/shell/domain/fixes.ts';
import { type Soundness, soundness, soundnessOf } from '../../../../src/engine/shell/domain/soundness.ts';
import { inFullSuite, oneOfEachKind, sampled } from '../../../support/suite.ts';
import { type Files, folderOf } from '../load/domainFolder.ts';
import { checkWithKnownTools } from './findings.ts';
import { added, changed, lendingDesk, shelfTools, withShelf } from './lendingDesk.ts';

const look = checkWithKnownTools();

/** Every finding of `check --audit`, as `E4 file:line code`. */
async function findings(files: Files) {
  const folder = folderOf(files);
  const { loaded, diagnostics, ok } = await look(folder);
  const audited = ok ? (await audit(loaded, { signal: new AbortController().signal })).diagnostics : [];
  const all = withAudit(diagnostics, audited);
  return {
    folder,
    all,
    lines: all.map(({ code, file, line }) => `${soundnessOf(code)} ${relative(folder, file)}:${line} ${code}`),
  };
}

const tasks = 'tasks/loans.task.yaml';
const renewal = String(lendingDesk[tasks]).split('- id: return')[0] ?? '';
const returning = String(lendingDesk[tasks]).slice(renewal.length);

/** Returns a task that changes nothing. */
function question(goal: string, demands: string): string {
  return `- id: question
  split: test
  persona: plain
  user:
    goal: ${goal}
    known: { loan: L2 }
  actions:
    - { tool: find_loan, arguments: { loan: L2 } }
${demands}`;
}

const tool = (name: string, effect: string, result: string) => `
export const ${name} = tool({
  description: 'Something more.',
  effect: '${effect}',
  input: z.object({}),
  run: (_, { db }) => ${result},
});
`;

const coin = `import { defineVerifiers } from 'rehearsal';
const { verifier } = defineVerifiers();
export const fair = verifier({
  description: 'Says something else every time.',
  verify: () => ({ held: true, detail: String(Math.random()) }),
});
`;

type Case = readonly [Soundness, string, Files, string, says: string, mended?: string];

const cases: readonly Case[] = [
  [
    'E1',
    'a gate with nothing behind it',
    changed(
      tasks,
      '  user:\n    goal: You want to give',
      '  evaluate: [database, assertions]\n  user:\n    goal: You want to give',
    ),
    `${tasks}:14 task/empty-basis`,
    'always holds',
    'evaluate: [database]',
  ],
  [
    'E2',
    'an assertion that counts for nothing',
    added(tasks, '  assertions: [{ path: loans.L2.back, equals: true }]\n'),
    `${tasks}:21 task/unused-demand`,
    'has no effect',
    'evaluate: [database, communicate, assertions]',
  ],
  [
    'E3',
    'a question that needs no answer',
    added(tasks, question('Ask when L2 ends.', '')),
    `${tasks}:21 task/nothing-to-do`,
    'does nothing gets reward 1',
  ],
  [
    'E3',
    'an answer that training does not ask for',
    added(
      tasks,
      question('Ask when L2 ends.', '  communicate: [on the third Tuesday]\n').replace('split: test', 'split: train'),
    ),
    `${tasks}:21 task/nothing-to-do`,
    'does not use `communicate`. Add train: [database, communicate]',
  ],
  [
    'E3',
    'a demand that the start of the task meets already',
    added(
      tasks,
      question(
        'Ask when L2 ends.',
        '  assertions: [{ path: loans.L2.day, equals: Tuesday }]\n  evaluate: [assertions]\n',
      ),
    ),
    `${tasks}:21 task/nothing-to-do`,
    'got reward 1',
  ],
  [
    'E4',
    'a gold action that the tool refuses',
    changed(
      'tools.ts',
      'row(db.loans, loan).back = true;',
      "if (row(db.loans, loan).reserved) throw new ToolError('it is reserved');",
    ),
    `${tasks}:20 task/gold-fails`,
    'it is reserved',
  ],
  [
    'E4',
    'a verifier that tosses a coin',
    { ...added(tasks, '  verifiers: [fair]\n  evaluate: [database, custom]\n'), 'verifiers.ts': coin },
    `${tasks}:11 task/gold-differs`,
    'differs from step',
  ],
  [
    'E5',
    'a gold action that the policy forbids',
    changed('database.json', '"Monday", "reserved": false', '"Monday", "reserved": true'),
    `${tasks}:10 task/gold-violates`,
    'rule not-reserved (line 5 of the policy)',
  ],
  [
    'E5',
    'a gold path that breaks a rule on what was said',
    added('rules.yaml', '- { rule: look-up, check: mustSay, says: you are welcome, after: [return_loan] }\n'),
    `${tasks}:11 task/gold-violates`,
    'violates the rule look-up',
  ],
  [
    'E6',
    'a row that the database does not have',
    changed('database.json', '"L2": {', '"L7": {'),
    `${tasks}:19 task/missing-row`,
    'There is no L2 in loans',
  ],
  [
    'E6',
    'a day that no calendar has',
    changed('domain.yaml', '2026-03-02', '2026-02-30'),
    'domain.yaml:2 domain/wrong-date',
    'that date or time does not exist',
  ],
  [
    'E7',
    'a value that the user does not know',
    changed(
      tasks,
      'goal: You want to keep your loan L1 until Friday.\n    opening: Can I keep L1 until Friday?\n    known: { loan: L1, day: Friday }',
      'goal: You want to keep your loan L1 for longer.\n    known: { loan: L1 }',
    ),
    `${tasks}:9 task/untold-argument`,
    'needs day Friday',
    'known: { loan: L1, day: Friday }',
  ],
  [
    'E8',
    'a goal that is refused and never ends',
    added(tasks, question('You want to renew L2, which is reserved.', '  communicate: [reserved]\n')),
    `${tasks}:25 task/endless-goal`,
    'does not say when to stop',
    'You want to renew L2, which is reserved. If the agent refuses, accept that and end the conversation.',
  ],
  [
    'E9',
    'a persona that leaves on its own yes',
    changed('personas/plain.persona.yaml', 'every question.', 'every question. Stop as soon as you have confirmed.'),
    'personas/plain.persona.yaml:2 persona/stops-early',
    'before the agent has done what was agreed',
    'every question. End the conversation only when the agent has said that it is done.',
  ],
  [
    'E9',
    'a goal that ends with the yes',
    changed(tasks, 'give your loan L2 back.', 'give your loan L2 back. Once you agree, say goodbye.'),
    `${tasks}:15 task/stops-early`,
    'stop when confirming',
    'End the conversation only when',
  ],
  [
    'E10',
    'a policy that names a tool which is not there',
    changed('policy.md', 'with find_loan', 'with look_up_loan'),
    'policy.md:3 policy/unknown-tool',
    'which is not a tool',
  ],
  [
    'E10',
    'a task that calls a tool which is not there',
    changed(tasks, 'tool: return_loan', 'tool: return_lone'),
    `${tasks}:20 task/unknown-tool`,
    'Did you mean "return_loan"?',
    'tool: return_loan',
  ],
  [
    'E11',
    'a tool that no gold path uses',
    added('tools.ts', tool('count_loans', 'read', 'Object.keys(db.loans).length')),
    'tools.ts:40 tool/unused',
    'among its gold actions',
  ],
  [
    'E12',
    'a rule that no task tries',
    {
      ...lendingDesk,
      [tasks]: returning,
      'tools.ts': String(lendingDesk['tools.ts']).replace(
        "Lend it until a later day.',",
        "Lend it until a later day.',\n  generic: true,",
      ),
    },
    'policy.md:5 policy/uncovered-rule',
    'no task calls renew_loan',
  ],
  [
    'E13',
    'arguments of any type',
    changed(
      'tools.ts',
      'input: z.object({ loan: z.string(), day: z.string() })',
      'input: z.object({ loan: z.string(), day: z.any() })',
    ),
    'tools.ts:14 tool/strict-schema',
    'day has no `type`',
  ],
  [
    'E14',
    'a read that writes',
    changed(
      'tools.ts',
      'run: ({ loan }, { db }) => row(db.loans, loan),',
      'run: ({ loan }, { db }) => Object.assign(row(db.loans, loan), { seen: true }),',
    ),
    'tools.ts:7 tool/undeclared-write',
    'find_loan is declared as a read',
    "description: 'What is lent, and until when.',\n  effect: 'write'",
  ],
  [
    'E15',
    'a tool that counts its calls',
    {
      ...lendingDesk,
      'tools.ts': String(lendingDesk['tools.ts'])
        .replace(
          "row(db.loans, loan).back = true;\n    return 'ok';",
          'row(db.loans, loan).back = true;\n    return (calls += 1);',
        )
        .replace('function row', 'let calls = 0;\nfunction row'),
    },
    'tools.ts:24 tool/not-repeatable',
    'returned a different result',
  ],
  [
    'E15',
    'a tool that asks the machine for the time',
    changed('tools.ts', "back = true;\n    return 'ok';", 'back = true;\n    return new Date().toISOString();'),
    'tools.ts:30 tool/ambient',
    'Use now',
  ],
  [
    'E15',
    'a prefix of ids that ends with a digit',
    changed(
      'tools.ts',
      "back = true;\n    return 'ok';",
      "back = true;\n    return String('id' in db || id('R2026'));",
    ),
    'tools.ts:30 tool/id-prefix',
    'End the prefix with another character',
  ],
  [
    'E15',
    'a write that is not as idempotent as it says',
    changed(
      'tools.ts',
      "effect: 'write',\n  input: z.object({ loan: z.string() }),\n  run: ({ loan }, { db }) => {\n    row(db.loans, loan).back = true;",
      "effect: 'write',\n  idempotent: true,\n  input: z.object({ loan: z.string() }),\n  run: ({ loan }, { db }) => {\n    row(db.loans, loan).title += '!';",
    ),
    'tools.ts:24 tool/not-repeatable',
    'changes the database twice',
  ],
  [
    'E16',
    'a task of the test split that was trained on',
    {
      ...lendingDesk,
      'tasks/more.task.yaml': renewal.replace('- id: renew', '- id: again').replace('split: train', 'split: test'),
    },
    'tasks/more.task.yaml:1 task/split-leak',
    'training on a test task makes the test worthless',
  ],
  [
    'E16',
    'a task that appears twice',
    { ...lendingDesk, 'tasks/more.task.yaml': renewal.replace('- id: renew', '- id: again') },
    'tasks/more.task.yaml:1 task/duplicate-content',
    'says the same',
  ],
];

describe('the audit of unsound environments', () => {
  it('finds nothing in the domain that the cases change', async () => {
    expect((await findings(lendingDesk)).lines).toEqual([]);
  });

  const named = cases.map(([name, title, files, line, says, mended]) => ({ name, title, files, line, says, mended }));
  it.each(sampled(named, 12))('$name: $title', async ({ name, files, line, says, mended }) => {
    const { folder, all, lines } = await findings(files);
    // A gold action that fails is reported next to what explains it.
    expect(lines.filter((each) => name !== 'E6' || !each.includes('task/gold-fails'))).toEqual([`${name} ${line}`]);
    const found = all.find(({ code }) => line.endsWith(code));
    expect(`${found?.message} ${found?.hint}`).toContain(says);
    expect(found?.fix !== undefined).toBe(mended !== undefined);
    if (mended === undefined || !found) return;
    applyFixes([found]);
    expect(readFileSync(found.file, 'utf8')).toContain(mended);
    expect((await look(folder)).diagnostics).toEqual([]);
  });

  it('finds a wrong gold action, to which the user does not agree', async () => {
    const files = changed(tasks, 'arguments: { loan: L1, day: Friday }', 'arguments: { loan: L1, day: Tuesday }');
    const { all, lines } = await findings(files);
    expect(lines).toEqual([`E4 ${tasks}:1 task/gold-fails`, `E7 ${tasks}:10 task/other-fact`]);
    expect(all[1]?.message).toBe('renew_loan gets day Tuesday, but the user knows day Friday.');
    applyFixes(all.slice(1));
    expect(readFileSync(String(all[1]?.file), 'utf8')).toBe(lendingDesk[tasks]);
  });

  it('has a case for each of the sixteen kinds', () => {
    expect([...new Set(cases.map(([name]) => name))]).toEqual(Object.keys(soundness));
  });
});

describe('a tool of the user', () => {
  inFullSuite('is called twice as well, and may be sound', async () => {
    const folder = folderOf(withShelf(shelfTools));
    const { loaded, diagnostics } = await look(folder);
    const told: string[] = [];
    const { diagnostics: audited } = await audit(loaded, {
      signal: new AbortController().signal,
      onProgress: (_done, _total, what) => told.push(what),
    });
    expect([...diagnostics, ...audited]).toEqual([]);
    for (const name of ['look_at_shelf', 'tidy_shelf'])
      expect(
        told.filter((what) => what === `two calls of ${name}`),
        name,
      ).toHaveLength(2);
  });

  const shelf = (from: string, to: string) => {
    if (!shelfTools.includes(from)) throw new Error(`no tool says ${from}`);
    return withShelf(shelfTools.replace(from, to));
  };
  const unsound: readonly (readonly [title: string, files: Files, line: string, says: string])[] = [
    [
      'E14: a read that writes',
      shelf('({ books: userDb.shelf.books })', 'Object.assign(userDb.shelf, { seen: true })'),
      'tools.ts:42 tool/undeclared-write',
      'look_at_shelf is declared as a read',
    ],
    [
      'E15: one that counts its calls',
      shelf(
        '({ books: userDb.shelf.books })',
        '({ books: (globalThis as { looks?: number }).looks = ((globalThis as { looks?: number }).looks ?? 0) + 1 })',
      ),
      'tools.ts:42 tool/not-repeatable',
      'returned a different result',
    ],
    [
      'E15: a write that is not as idempotent as it says',
      shelf('books = 4', 'books += 1'),
      'tools.ts:49 tool/not-repeatable',
      'changes the database twice',
    ],
    [
      'E15: one that no gold path uses',
      withShelf(
        `${shelfTools}${shelfTools.replaceAll('_shelf', '_floor').replace('tidy = true', 'tidy = !userDb.shelf.tidy')}`,
      ),
      'tools.ts:69 tool/not-repeatable',
      'changes the database twice',
    ],
  ];
  it.each(oneOfEachKind(unsound, () => 'a tool of the user'))('%s', async (_, files, line, says) => {
    const { all, lines } = await findings(files);
    const told = all.filter(({ code }) => code !== 'tool/unused');
    expect(lines.filter((each) => !each.includes('tool/unused'))).toEqual([expect.stringMatching(`^E1[45] ${line}$`)]);
    expect(told[0]?.message).toContain(says);
  });
});

it('an audit that is cancelled says so and judges nothing', async () => {
  const { loaded } = await look(folderOf(lendingDesk));
  const abort = new AbortController();
  const audited = await audit(loaded, { signal: abort.signal, onProgress: () => abort.abort() });
  expect(audited).toMatchObject({ isCancelled: true, diagnostics: [], undecided: [] });
});

inFullSuite('progress is reported after every rollout, with one total, and never goes back', async () => {
  const { loaded } = await look(folderOf(lendingDesk));
  const told: (readonly [done: number, total: number])[] = [];
  const { rollouts } = await audit(loaded, {
    signal: new AbortController().signal,
    onProgress: (done, total) => told.push([done, total]),
  });
  const [[, total] = [0, 0]] = told;
  expect(told).toHaveLength(rollouts);
  expect(told.at(-1)).toEqual([total, total]);
  expect(new Set(told.map(([, each]) => each))).toEqual(new Set([total]));
  const counts = told.map(([done]) => done);
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
});

it.each(sampled(['help-line', 'library-desk', 'parcel-desk', 'order-desk'], 4))('%s is sound', async (name) => {
  const folder = join(import.meta.dirname, '../../../../domains', name);
  const { loaded, diagnostics } = await look(folder);
  const audited = await audit(loaded, { signal: new AbortController().signal });
  expect({ diagnostics, audited: audited.diagnostics, undecided: audited.undecided }).toEqual({
    diagnostics: [],
    audited: [],
    undecided: [],
  });
});

it('a gated rule that no gold rollout could evaluate is an error', async () => {
  const rule =
    '{ rule: not-reserved, check: onlyIf, tools: [renew_loan], condition: "not db.loans[args.loan].reserved" }';
  const gated =
    '{ rule: not-reserved, check: onlyIf, tools: [renew_loan], gate: true, condition: "days(lower(db.loans[args.loan].day), now) < 30" }';
  const { all, lines } = await findings(changed('rules.yaml', rule, gated));
  expect(lines).toEqual(['undefined rules.yaml:3 rule/never-evaluated']);
  expect(all[0]?.message).toMatch(/^The gated rule not-reserved was not evaluated in any gold rollout: .*two dates/);
});

inFullSuite('a rule without a gate that no gold rollout could evaluate is a warning', async () => {
  const rule =
    '{ rule: not-reserved, check: onlyIf, tools: [renew_loan], condition: "not db.loans[args.loan].reserved" }';
  const { lines, all } = await findings(
    changed('rules.yaml', rule, rule.replace('not db.loans[args.loan].reserved', 'days(lower(args.day), now) < 30')),
  );
  expect(lines).toEqual(['undefined rules.yaml:3 rule/never-evaluated']);
  expect(all[0]?.message).toMatch(/^The rule not-reserved was not evaluated in any gold rollout: .*two dates/);
});

inFullSuite('a second check of a gated rule that no gold rollout reaches is an error', async () => {
  const first = `- { rule: not-reserved, check: onlyIf, tools: [renew_loan], gate: true, condition: "not db.loans[args.loan].reserved" }\n`;
  const second = `- { rule: not-reserved, check: onlyIf, tools: [lend], gate: true, condition: "args.loan != 'L2'" }\n`;
  const { lines } = await findings({
    ...added('rules.yaml', first + second),
    'tools.ts': `${lendingDesk['tools.ts']}
export const lend = tool({ description: 'Lend.', effect: 'write', input: z.object({ loan: z.string() }), run: ({ loan }, { db }) => row(db.loans, loan) });
`,
  });
  expect(lines).toContain('undefined rules.yaml:5 rule/never-evaluated');
  expect(lines).not.toContain('undefined rules.yaml:4 rule/never-evaluated');
});

it('a second check of a gated rule that never applies is an error, although the first one does', async () => {
  const checks = ['true', 'db.loans[args.loan].reserved'].map(
    (when) =>
      `- { rule: not-reserved, check: onlyIf, tools: [renew_loan], gate: true, when: "${when}", condition: "not db.loans[args.loan].reserved" }\n`,
  );
  const { lines } = await findings(added('rules.yaml', checks.join('')));
  expect(lines).toEqual(['undefined rules.yaml:5 rule/never-evaluated']);
});

inFullSuite('a gated rule that no task comes to is an error', async () => {
  const rules = String(lendingDesk['rules.yaml']).replace('"not db.loans[args.loan].reserved"', '$&, gate: true');
  const { lines } = await findings({ ...lendingDesk, 'rules.yaml': rules, [tasks]: returning });
  expect(lines).toContain('undefined rules.yaml:3 rule/never-evaluated');
});

it('a tool that crashes is named with its line', async () => {
  const crash = '(row(db.loans, loan) as any).kept.back = true;';
  const { all } = await findings(changed('tools.ts', 'row(db.loans, loan).back = true;', crash));
  const found = all.find(({ code }) => code === 'task/gold-fails');
  expect(found?.message).toMatch(/^The gold action return_loan crashes: .*undefined.* \(tools\.ts:29:\d+\)\.$/);
  expect(found?.hint).toBe('Correct the tool, or the data that it reads.');
});

inFullSuite('a tool in Python that crashes is named with its line', async () => {
  const python =
    'from rehearsal import tool\n\n@tool(effect="write")\ndef return_loan(db, ctx, loan: str):\n    """Take it back."""\n    return ctx.nw\n';
  const { all } = await findings({
    ...changed('tools.ts', 'export const return_loan', 'export const take_back'),
    'tools.py': python,
  });
  const found = all.find(({ code }) => code === 'task/gold-fails');
  expect(found?.message).toBe(
    "The gold action return_loan crashes: 'Context' object has no attribute 'nw' (tools.py:6).",
  );
});

it('a random id that changes the reward of the gold seat is an error that names the task', async () => {
  const { all } = await findings(
    changed(
      'tools.ts',
      'row(db.loans, loan).back = true;',
      "db.loans['N' + Math.random()] = { ...row(db.loans, loan) };",
    ),
  );
  expect(all.map(({ code, severity }) => [code, severity])).toEqual([['tool/ambient', 'error']]);
  expect(all[0]?.message).toContain('The gold seat does not get reward 1 in return.');
});

inFullSuite('a failing gold action is reported next to another tool that is not repeatable', async () => {
  const { all } = await findings({
    ...lendingDesk,
    'tools.ts': String(lendingDesk['tools.ts'])
      .replace('=> row(db.loans, loan),', '=> ({ ...row(db.loans, loan), nonce: Math.random() }),')
      .replace('row(db.loans, loan).back = true;', "throw new ToolError('it is reserved');"),
  });
  expect(all.map(({ code }) => code)).toEqual(['task/gold-fails', 'tool/ambient']);
});

it('a failing gold action is reported next to the warning that explains it', async () => {
  const refusing = "if (loan === 'L1') throw new ToolError('it is on loan');\n    row(db.loans, loan).day = day;";
  const { lines, all } = await findings({
    ...changed('tools.ts', 'row(db.loans, loan).day = day;', refusing),
    [tasks]: String(lendingDesk[tasks])
      .replace('known: { loan: L1, day: Friday }', 'known: { loan: L1, day: Monday }')
      .replaceAll('until Friday', 'for longer'),
  });
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringContaining('task/untold-argument'),
      expect.stringContaining('task/gold-fails'),
    ]),
  );
  expect(all.find(({ code }) => code === 'task/untold-argument')?.hint).toContain('The user knows day as Monday');
});

it('a tool that creates a row with its own id is sound', async () => {
  const code = String(lendingDesk['tools.ts'])
    .replace(
      'agent: { loans: Record<string, Loan> }',
      'agent: { loans: Record<string, Loan>; returns: Record<string, { loan: string }> }',
    )
    .replace(
      'run: ({ loan }, { db }) => {\n    row(db.loans, loan).back = true;',
      "run: ({ loan }, { db, id }) => {\n    row(db.loans, loan).back = true;\n    db.returns[id('R')] = { loan };",
    );
  const database = String(lendingDesk['database.json']).replace('{', '{ "returns": {},');
  const { lines } = await findings({ ...lendingDesk, 'tools.ts': code, 'database.json': database });
  expect(lines).toEqual([]);
});

inFullSuite(
  'a row under its own random id is the same row, and other differences are reported with the ids',
  async () => {
    const random = "'R' + (10000000 + Math.floor(Math['random']() * 80000000))";
    const code = (more: string) =>
      String(lendingDesk['tools.ts'])
        .replace(
          'agent: { loans: Record<string, Loan> }',
          'agent: { loans: Record<string, Loan>; returns: Record<string, object> }',
        )
        .replace(
          "row(db.loans, loan).back = true;\n    return 'ok';",
          `row(db.loans, loan).back = true;\n    const key = ${random};\n    db.returns[key] = { loan${more} };\n    return key;`,
        );
    const database = String(lendingDesk['database.json']).replace('{', '{ "returns": {},');
    const of = async (more: string) => {
      const { all } = await findings({ ...lendingDesk, 'tools.ts': code(more), 'database.json': database });
      return all.map(({ code: found, message }) => `${found} ${message}`);
    };
    expect(await of('')).toEqual([]);
    expect(await of(", at: Math['random']()")).toEqual([
      expect.stringMatching(/^tool\/not-repeatable .*\(ids that tools created: R\d{8} is R\d{8}\)/),
    ]);
  },
);

inFullSuite('an action that fails is named, and not the rule that is broken because of it', async () => {
  const { lines, all } = await findings({
    ...changed(
      'rules.yaml',
      '- { rule: not-reserved',
      '- { rule: look-up, check: handOff, onlyWhen: "false" }\n- { rule: not-reserved',
    ),
    'tools.ts': String(lendingDesk['tools.ts'])
      .replace('row(db.loans, loan).day = day;', '(db as any).loan[loan].day = day;')
      .replace(
        'export const find_loan',
        `export const hand_over = tool({ description: 'Hand over.', effect: 'write', handsOff: true, input: z.object({}), run: () => 'ok' });\n\nexport const find_loan`,
      ),
  });
  expect(lines.join()).toMatch(/loans\.task\.yaml:\d+ task\/gold-fails/);
  expect(lines.filter((line) => line.endsWith('task/gold-violates'))).toEqual([]);
  expect(all.find(({ code }) => code === 'task/gold-fails')?.message).toMatch(
    /^The gold action renew_loan crashes: .*tools\.ts/,
  );
});

it('a task whose gold rollout cannot be scored is an error', async () => {
  const rule = 'tools: [renew_loan], condition: "not db.loans[args.loan].reserved"';
  const gated = 'tools: [renew_loan, return_loan], gate: true, condition: "days(db.loans[args.loan].due, now) < 9"';
  const { lines, all } = await findings({
    ...changed('rules.yaml', rule, gated),
    'database.json': String(lendingDesk['database.json'])
      .replace('"title": "atlas"', '"title": "atlas", "due": "2026-03-05"')
      .replace('"title": "drill"', '"title": "drill", "due": "2026-05-32"'),
  });
  expect(lines.join()).toMatch(/loans\.task\.yaml:\d+ task\/gold-fails/);
  expect(all.map(({ message }) => message).join()).toMatch(/The gold rollout cannot be scored: .*2026-05-32/);
});
