import type { Files } from '../load/domainFolder.ts';
import { lendingDesk } from './lendingDesk.ts';

export const tasks = 'tasks/loans.task.yaml';
export const persona = 'personas/plain.persona.yaml';
/** The lending desk with an example of everything that a fix can change, and without findings of the audit. */
export const desk: Files = {
  ...lendingDesk,
  'domain.yaml': `name: lending-desk
now: "2026-03-02T09:00:00Z"
turnCap: 30
agent: gold
user: agenda
lexicon:
  facts:
    loan: { label: loan number, ask: ["Which loan is it?"] }
  tools:
    return_loan: { done: ["Done, {loan} is back."], propose: ["Shall I take {loan} back?"] }
`,
  'verifiers.ts': `import { defineVerifiers } from 'rehearsal';
const { verifier } = defineVerifiers();
export const orderly = verifier({ description: 'Always held.', verify: () => ({ held: true, detail: '' }) });
`,
  [persona]: 'id: plain\ndescription: "Someone who answers every question."\n',
  [tasks]: `${lendingDesk[tasks]}  state:
    - { path: [loans, L2, title], value: drill }
  receipts:
    - { tool: return_loan, when: result == "ok", times: 1 }
  assertions:
    - { path: loans.L2.back, equals: true, in: agent }
    - { that: 'state.loans.L2.back == true' }
  verifiers: [orderly]
  evaluate: [database, receipts, assertions, custom]
`,
};

/** One fault in a domain without other faults, and the code of the finding whose fix corrects it. */
export type FixableFault = {
  readonly code: string;
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
  readonly base: Files;
  /** The codes of the findings in the domain without the fault. */
  readonly noted: readonly string[];
};
type Row = readonly [code: string, file: string, right: string, wrong: string, base?: Files];

const known =
  '    goal: You want to keep your loan L1 until Friday.\n    opening: Can I keep L1 until Friday?\n    known: { loan: L1, day: Friday }';
/** The desk with a row whose key is a word. */
const named = Object.fromEntries(
  Object.entries(desk).map(([file, text]) => [file, String(text).replaceAll('L1', 'atlas')]),
);
const schema =
  'parameters: { type: object, properties: { day: { type: string } }, required: [day], additionalProperties: false }';
/** The desk with a tool for which a model answers; no gold path uses it. */
const simulated: Files = {
  ...desk,
  'domain.yaml': `${desk['domain.yaml']}simulator: openai:small\n`,
  'tools/weather.tool.yaml': `name: find_weather\ndescription: Weather of a day.\nbehaviour: Sunny.\n${schema}\n`,
};
const refused = `- id: question
  split: test
  persona: plain
  user:
    goal: You want to renew L2, which is reserved. If the agent refuses, accept that and end the conversation.
    known: { loan: L2 }
  actions:
    - { tool: find_loan, arguments: { loan: L2 } }
  communicate: [reserved]
`;

/** Faults, each with the code of the finding whose fix corrects it. */
const rows: readonly Row[] = [
  [
    'task/empty-basis',
    tasks,
    '  actions:\n    - { tool: find_loan, arguments: { loan: L1 } }',
    '  evaluate: [database, assertions]\n  actions:\n    - { tool: find_loan, arguments: { loan: L1 } }',
  ],
  ['task/unused-demand', tasks, '[database, receipts, assertions, custom]', '[database, receipts, custom]'],
  ['task/missing-row', tasks, 'find_loan, arguments: { loan: atlas }', 'find_loan, arguments: { loan: altas }', named],
  ['task/unknown-path', tasks, 'path: [loans, L2', 'path: [laons, L2'],
  [
    'task/untold-argument',
    tasks,
    known,
    '    goal: You want to keep your loan L1 for longer.\n    known: { loan: L1 }',
  ],
  [
    'task/endless-goal',
    'tasks/question.task.yaml',
    ' If the agent refuses, accept that and end the conversation.',
    '',
    { ...desk, 'tasks/question.task.yaml': refused },
  ],
  ['task/stops-early', tasks, 'give your loan L2 back.', 'give your loan L2 back. Once you agree, say goodbye.'],
  ['persona/stops-early', persona, 'every question.', 'every question. Stop as soon as you have confirmed.'],
  ['task/unknown-tool', tasks, 'tool: renew_loan', 'tool: renew_lone'],
  ['rule/unknown-tool', 'rules.yaml', 'require: [find_loan]', 'require: [find_laon]'],
  ['domain/unknown-tool', 'domain.yaml', 'return_loan:', 'retrun_loan:'],
  ['policy/unknown-tool', 'policy.md', 'find_loan', 'find_laon'],
  ['tool/strict-schema', 'tools/weather.tool.yaml', ', required: [day]', '', simulated],
  ['tool/undeclared-write', 'tools.ts', "'Take it back.',\n  effect: 'write'", "'Take it back.',\n  effect: 'read'"],
  ['task/unknown-key', tasks, '  receipts:\n', '  reciepts:\n'],
  ['task/wrong-value', tasks, 'split: train', 'split: trian'],
  ['task/wrong-type', tasks, 'times: 1', 'times: "1"'],
  ['task/unknown-persona', tasks, 'persona: plain', 'persona: plian'],
  ['task/unknown-verifier', tasks, '[orderly]', '[ordrely]'],
  ['task/bad-arguments', tasks, 'renew_loan, arguments: { loan: L1, day:', 'renew_loan, arguments: { loan: L1, dya:'],
  ['task/unknown-name', tasks, 'result == "ok"', 'reslut == "ok"'],
  ['task/unknown-source', tasks, 'in: agent', 'in: agnet'],
  ['rule/unknown-rule', 'rules.yaml', 'rule: look-up', 'rule: look-pu'],
  ['rule/unknown-argument', 'rules.yaml', 'same: [loan]', 'same: [laon]'],
  ['rule/unknown-argument', 'rules.yaml', 'args.loan', 'args.laon'],
  ['rule/unknown-name', 'rules.yaml', 'not db.loans', 'not bd.loans'],
  ['rule/unknown-table', 'rules.yaml', 'db.loans', 'db.loan'],
  ['rule/unknown-field', 'rules.yaml', '].reserved', '].resevred'],
  ['task/unknown-field', tasks, 'L2, title]', 'L2, ttile]'],
  ['task/unknown-table', tasks, 'path: loans.L2', 'path: laons.L2'],
  ['task/unknown-value', tasks, 'value: drill', 'value: drlil'],
  ['task/bad-expression', tasks, '.back == true', '.back = true'],
  ['task/bad-expression', tasks, ".back == true'", ".back == true or 2 =< 1'"],
  ['rule/unknown-key', 'rules.yaml', 'condition:', 'conditon:'],
  ['rule/wrong-value', 'rules.yaml', 'check: before', 'check: befor'],
  ['domain/unknown-key', 'domain.yaml', 'turnCap', 'turncap'],
  ['domain/wrong-type', 'domain.yaml', 'turnCap: 30', 'turnCap: "30"'],
  ['domain/bad-seat', 'domain.yaml', 'agent: gold', 'agent: glod'],
  ['domain/unknown-argument', 'domain.yaml', '{loan}', '{laon}'],
  ['domain/unknown-field', 'domain.yaml', 'loan: { label', 'laon: { label'],
  [
    'task/unknown-fact',
    tasks,
    'back.\n    opening: I want to return L2.\n    known: { loan: L2 }',
    'back.\n    opening: I want to return L2.\n    known: { laon: L2 }',
  ],
  ['persona/unknown-key', persona, 'description:', 'descripton:'],
  ['persona/wrong-value', persona, 'id: plain', 'id: plain\nstyle: breif'],
  ['persona/stop-word', persona, 'Someone who', 'Someone ## who'],
  ['policy/bad-mark', 'policy.md', '{#look-up}', '{#look up}'],
  ['policy/unclosed-mark', 'policy.md', '{#look-up}', '{#look-up'],
];

/** One fault for each existing fix. */
export const fixableFaults = rows.map(
  ([code, file, right, wrong, base = desk]): FixableFault => ({
    code,
    file,
    right,
    wrong,
    base,
    noted: base === simulated ? ['tool/unused'] : [],
  }),
);

/** Returns the domain of a fault, including the fault. */
export function faulty({ base, file, right, wrong }: FixableFault): Files {
  const text = String(base[file]);
  if (!text.includes(right)) throw new Error(`${file} does not say ${right}`);
  return { ...base, [file]: text.replace(right, () => wrong) };
}
