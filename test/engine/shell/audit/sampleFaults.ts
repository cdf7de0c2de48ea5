import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Files } from '../load/domainFolder.ts';

/** Tasks of each sample domain, by file: a few, since an audit plays each of them. */
const kept: Readonly<Record<string, readonly [file: string, ids: readonly string[]]>> = {
  'parcel-desk': [
    'tasks/train.task.yaml',
    ['reschedule-P68', 'redirect-P54', 'vague-P76', 'missing-P94', 'changed-P82'],
  ],
  'order-desk': ['tasks/returns.task.yaml', ['boots-size', 'wrong-card', 'two-returns']],
  'help-line': ['tasks/train.task.yaml', ['surge-L2001', 'surge-L2003', 'swap-L2007', 'bill-L2017']],
};
/** The sample domains in which faults are planted. */
export const faultySamples = Object.keys(kept);

/** The files of a sample domain, with a few of its tasks. */
export function sampleFiles(root: string, sample: string): Files {
  const folder = join(root, 'domains', sample);
  const [tasks = '', ids = []] = kept[sample] ?? [];
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((path) => !path.startsWith('.rehearsal/') && (!path.startsWith('tasks/') || path === tasks));
  return Object.fromEntries(
    paths.map((path) => {
      const text = readFileSync(join(folder, path), 'utf8');
      return [path, path === tasks ? onlyTasks(text, ids) : text];
    }),
  );
}

function onlyTasks(text: string, ids: readonly string[]): string {
  const own = text.split(/^(?=- id: )/m).filter((task) => ids.some((id) => task.startsWith(`- id: ${id}\n`)));
  if (own.length !== ids.length) throw new Error(`not all of ${ids.join(', ')} are there`);
  return own.join('');
}

/** One fault in a sample domain, and the code of the finding whose fix corrects it. */
export type SampleFault = readonly [sample: string, code: string, file: string, right: string, wrong: string];

const parcels = 'parcel-desk';
const parcelTasks = 'tasks/train.task.yaml';
const brief = 'personas/brief.persona.yaml';
const orders = 'order-desk';
const orderTasks = 'tasks/returns.task.yaml';
const patient = 'personas/patient.persona.yaml';
const lines = 'help-line';
const lineTasks = 'tasks/train.task.yaml';
const terse = 'personas/terse.persona.yaml';

export const sampleFaults: readonly SampleFault[] = [
  [parcels, 'task/unknown-tool', parcelTasks, 'tool: report,', 'tool: reprot,'],
  [parcels, 'task/bad-arguments', parcelTasks, 'report, arguments: { parcel:', 'report, arguments: { pracel:'],
  [parcels, 'task/unknown-persona', parcelTasks, 'persona: vague', 'persona: vauge'],
  [parcels, 'task/unknown-key', parcelTasks, 'opening: "I am still', 'openning: "I am still'],
  [parcels, 'task/wrong-value', parcelTasks, 'split: train', 'split: trian'],
  [
    parcels,
    'task/untold-argument',
    parcelTasks,
    'Your parcel P54 should go to locker L8.\n    opening: "Put P54 in L8, please."\n    known: { parcel: P54, locker: L8 }',
    'Your parcel should go to locker L8.\n    opening: "Put it in L8, please."\n    known: { locker: L8 }',
  ],
  [
    parcels,
    'task/empty-basis',
    parcelTasks,
    '  actions:\n    - { tool: find_parcel, arguments: { parcel: P76 } }',
    '  evaluate: [database, assertions]\n  actions:\n    - { tool: find_parcel, arguments: { parcel: P76 } }',
  ],
  [
    parcels,
    'task/stops-early',
    parcelTasks,
    'you want L3 instead.',
    'you want L3 instead. Once you agree, say goodbye.',
  ],
  [parcels, 'rule/unknown-rule', 'rules.yaml', 'rule: look-up-first', 'rule: look-up-frist'],
  [parcels, 'rule/unknown-tool', 'rules.yaml', 'require: [find_parcel]', 'require: [find_pacrel]'],
  [parcels, 'rule/unknown-argument', 'rules.yaml', 'names: [parcel, day', 'names: [parcel, dya'],
  [parcels, 'rule/unknown-key', 'rules.yaml', '\n  gate: true', '\n  gaet: true'],
  [parcels, 'rule/wrong-value', 'rules.yaml', 'check: oneCall', 'check: onecall'],
  [parcels, 'domain/unknown-tool', 'domain.yaml', '    redirect:', '    redriect:'],
  [parcels, 'domain/unknown-argument', 'domain.yaml', 'move {parcel}', 'move {pracel}'],
  [parcels, 'domain/unknown-key', 'domain.yaml', 'toolErrorCap', 'toolErorrCap'],
  [parcels, 'domain/wrong-type', 'domain.yaml', 'turnCap: 10', 'turnCap: "10"'],
  [parcels, 'domain/wrong-value', 'domain.yaml', 'dialect: auto', 'dialect: atuo'],
  [parcels, 'domain/bad-seat', 'domain.yaml', 'dialect:', 'agent: glod\ndialect:'],
  [parcels, 'policy/unknown-tool', 'policy.md', 'find_parcel', 'find_pacrel'],
  [parcels, 'policy/bad-mark', 'policy.md', '{#one-call}', '{#one call}'],
  [parcels, 'persona/unknown-key', brief, 'patience', 'patiecne'],
  [parcels, 'persona/wrong-value', brief, 'style: brief', 'style: breif'],
  [
    parcels,
    'persona/stop-word',
    brief,
    'Knows what they want and says it in a few words.',
    '"## Knows what they want and says it in a few words."',
  ],
  [
    parcels,
    'persona/stops-early',
    'personas/vague.persona.yaml',
    'when asked.',
    'when asked. Stop as soon as you have confirmed.',
  ],
  [parcels, 'tool/undeclared-write', 'tools.ts', "missing.',\n  effect: 'write'", "missing.',\n  effect: 'read'"],

  [orders, 'task/unknown-tool', orderTasks, 'tool: exchange_item', 'tool: exhcange_item'],
  [
    orders,
    'task/bad-arguments',
    orderTasks,
    'calculate, arguments: { expression:',
    'calculate, arguments: { expresion:',
  ],
  [
    orders,
    'task/missing-row',
    orderTasks,
    'arguments: { product: hiking boots }',
    'arguments: { product: hikign boots }',
  ],
  [orders, 'task/unknown-persona', orderTasks, 'persona: insistent', 'persona: insistnet'],
  [orders, 'task/unknown-key', orderTasks, 'communicate: ["82.4"', 'comunicate: ["82.4"'],
  [orders, 'task/wrong-value', orderTasks, 'split: train', 'split: trian'],
  [
    orders,
    'task/unused-demand',
    orderTasks,
    '  communicate: [5 to 7 business days]',
    '  evaluate: [database]\n  communicate: [5 to 7 business days]',
  ],
  [orders, 'rule/unknown-rule', 'rules.yaml', 'rule: authenticate', 'rule: authentciate'],
  [orders, 'rule/unknown-tool', 'rules.yaml', '    - list_variants', '    - list_varaints'],
  [orders, 'rule/unknown-argument', 'rules.yaml', 'same: [order_id]', 'same: [oredr_id]'],
  [orders, 'rule/unknown-argument', 'rules.yaml', 'args.customer_id', 'args.custmoer_id'],
  [orders, 'rule/unknown-name', 'rules.yaml', 'not db.orders[args', 'not bd.orders[args'],
  [orders, 'rule/unknown-table', 'rules.yaml', 'not db.orders[args', 'not db.order[args'],
  [orders, 'rule/unknown-key', 'rules.yaml', 'silent: true', 'silnet: true'],
  [orders, 'rule/wrong-value', 'rules.yaml', 'check: confirmed', 'check: confrimed'],
  [orders, 'domain/unknown-tool', 'domain.yaml', '    change_address:', '    chnage_address:'],
  [orders, 'domain/unknown-argument', 'domain.yaml', 'send {order_id} to {address}', 'send {order_id} to {adress}'],
  [orders, 'domain/unknown-key', 'domain.yaml', 'lexicon:', 'lexcion:'],
  [orders, 'domain/wrong-type', 'domain.yaml', 'turnCap: 30', 'turnCap: "30"'],
  [orders, 'policy/bad-mark', 'policy.md', '{#own-data}', '{#own data}'],
  [orders, 'persona/unknown-key', patient, 'description:', 'descripton:'],
  [orders, 'persona/wrong-value', patient, 'style: plain', 'style: palin'],
  [
    orders,
    'persona/stop-word',
    patient,
    'Polite and in no hurry. Says what they want in full and answers every question.',
    '"Polite and in no hurry. ## Says what they want in full and answers every question."',
  ],
  [orders, 'persona/stops-early', patient, 'every question.', 'every question. Stop once you have agreed.'],
  [orders, 'domain/bad-seat', 'domain.yaml', 'turnCap:', 'agent: glod\nturnCap:'],
  [orders, 'task/empty-basis', orderTasks, '  actions:', '  evaluate: [database, assertions]\n  actions:'],
  [
    orders,
    'tool/undeclared-write',
    'tools.ts',
    "another variant.',\n  effect: 'write'",
    "another variant.',\n  effect: 'read'",
  ],

  [lines, 'task/unknown-tool', lineTasks, 'tool: unlock_port, arguments', 'tool: unlcok_port, arguments'],
  [lines, 'task/unknown-path', lineTasks, 'path: [router, serial]', 'path: [ruoter, serial]'],
  [lines, 'task/bad-arguments', lineTasks, 'get_line, arguments: { line:', 'get_line, arguments: { lien:'],
  [lines, 'task/unknown-persona', lineTasks, 'persona: terse', 'persona: tesre'],
  [lines, 'task/unknown-key', lineTasks, 'message: "the port', 'mesage: "the port'],
  [lines, 'task/wrong-value', lineTasks, 'side: user', 'side: usre'],
  [lines, 'task/wrong-type', lineTasks, 'calls: [1]', 'calls: ["1"]'],
  [
    lines,
    'task/untold-argument',
    lineTasks,
    ', service PIN 5300. My internet has been dead since the storm."\n    known: { name: "Carla Abbott", pin: "5300" }',
    '. My internet has been dead since the storm."\n    known: { name: "Carla Abbott" }',
  ],
  [lines, 'rule/unknown-rule', 'rules.yaml', 'rule: unlock-locked', 'rule: unlokc-locked'],
  [lines, 'rule/unknown-tool', 'rules.yaml', 'tools: [reset_login]', 'tools: [rest_login]'],
  [lines, 'rule/unknown-argument', 'rules.yaml', 'args.profile', 'args.porfile'],
  [lines, 'rule/unknown-name', 'rules.yaml', 'any(expected,', 'any(expcted,'],
  [lines, 'rule/unknown-table', 'rules.yaml', 'db.plans[', 'db.palns['],
  [lines, 'rule/unknown-key', 'rules.yaml', 'always:', 'alwasy:'],
  [lines, 'rule/wrong-value', 'rules.yaml', 'check: mustSay', 'check: mustsay'],
  [lines, 'domain/unknown-tool', 'domain.yaml', '    restart_router:', '    restrat_router:'],
  [lines, 'domain/unknown-argument', 'domain.yaml', 'bill {bill}', 'bill {blil}'],
  [lines, 'domain/unknown-key', 'domain.yaml', 'userDatabase', 'userDatabse'],
  [lines, 'domain/wrong-type', 'domain.yaml', 'turnCap: 40', 'turnCap: "40"'],
  [lines, 'policy/bad-mark', 'policy.md', '{#own-line}', '{#own line}'],
  [lines, 'persona/unknown-key', terse, 'patience', 'patiecne'],
  [lines, 'persona/wrong-value', terse, 'style: brief', 'style: breif'],
  [
    lines,
    'tool/undeclared-write',
    'tools.ts',
    "again when it is restarted.',\n  effect: 'write'",
    "again when it is restarted.',\n  effect: 'read'",
  ],
  [lines, 'persona/stops-early', terse, 'quick hands.', 'quick hands. Stop once you have agreed.'],
  [lines, 'domain/bad-seat', 'domain.yaml', 'turnCap:', 'agent: glod\nturnCap:'],
  [lines, 'task/stops-early', lineTasks, 'You want it back.', 'You want it back. Once you agree, say goodbye.'],
  [lines, 'task/empty-basis', lineTasks, '  actions:', '  evaluate: [database, assertions]\n  actions:'],
];

/** The files of a sample with a fault in them. */
export function planted(files: Files, [, , file, right, wrong]: SampleFault): Files {
  const text = String(files[file]);
  if (!text.includes(right)) throw new Error(`${file} does not say ${right}`);
  return { ...files, [file]: text.replace(right, () => wrong) };
}

/** Returns the files of a sample with all faults that a check finds, but only one if two change the same words. */
export function plantedTogether(files: Files, sample: string): { readonly files: Files; readonly count: number } {
  const own = sampleFaults.filter(([of, code]) => of === sample && code !== 'tool/undeclared-write');
  const start = { files, count: 0 };
  return own.reduce(
    (made, fault) =>
      String(made.files[fault[2]]).includes(fault[3])
        ? { files: planted(made.files, fault), count: made.count + 1 }
        : made,
    start,
  );
}
