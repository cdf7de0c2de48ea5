/** A place in a file of a domain: after the first character of some words. */
export type Mark = readonly [file: string, words: string];

/**
 * The language features that an editor has in one sample domain. Completions are requested after some words, or at the
 * end of a file.
 */
export type Sample = {
  readonly name: string;
  readonly completions: readonly (readonly [
    what: string,
    file: string,
    behind: string,
    text: string,
    offered: readonly string[],
  ])[];
  readonly hovers: readonly (readonly [...Mark, told: RegExp])[];
  readonly definitions: readonly (readonly [...Mark, file: string, line: string])[];
  readonly references: readonly (readonly [...Mark, files: readonly string[]])[];
  readonly renames: readonly (readonly [what: string, ...Mark, from: string, to: string, files: readonly string[]])[];
  readonly outlines: readonly (readonly [file: string, name: string, detail: string | RegExp])[];
  /** Lines from 1. */
  readonly folds: readonly (readonly [file: string, first: number, last: number])[];
  readonly links: readonly (readonly [file: string, said: string, target: string])[];
  /** The coloured words of the first line that holds some words, each with its type. */
  readonly colours: readonly (readonly [...Mark, tokens: readonly (readonly [text: string, type: string])[]])[];
  /** Well-formatted text, and the same text badly formatted. */
  readonly format: readonly [file: string, right: string, wrong: string];
  readonly lenses: readonly [file: string, task: string];
};

type Offered = readonly string[];

/** Returns the completions of a sample domain: the kinds of places are the same in each, the names differ. */
function completionsIn(own: {
  readonly tasks: string;
  readonly persona: string;
  readonly tools: Offered;
  /** A write, and what it takes. */
  readonly arguments: readonly [tool: string, offered: Offered];
  readonly rows: readonly [tool: string, argument: string, offered: Offered];
  readonly personas: Offered;
  readonly facts: Offered;
  readonly state: readonly [path: string, offered: Offered];
  readonly rules: Offered;
  readonly expression: readonly [rule: string, row: string, offered: Offered];
  readonly policy: Offered;
  readonly sentence: readonly [tool: string, argument: string];
}): Sample['completions'] {
  const { tasks } = own;
  const task = newTask(own.persona);
  const action = (tool: string, given: string) =>
    `${task}  actions:\n    - { tool: ${tool}, arguments: { ${given} } }\n`;
  const [write, given] = own.arguments;
  const [read, argument, keys] = own.rows;
  const [path, fields] = own.state;
  const [rule, row, columns] = own.expression;
  const [told, value] = own.sentence;
  const condition = `\n- rule: ${rule}\n  check: onlyIf\n  tools: writes\n  condition: ${row}.|\n`;
  return [
    ['tools of a gold action', tasks, '', `${task}  actions:\n    - { tool: | }\n`, own.tools],
    ['arguments by the schema', tasks, '', action(write, '|'), given],
    ['rows', tasks, '', action(read, `${argument}: |`), keys],
    ['personas', tasks, '', '\n- id: new-one\n  persona: |\n', own.personas],
    ['facts', tasks, '', '\n- id: new-one\n  user:\n    unknown: [|]\n', own.facts],
    ['fields of a state', tasks, '', `${task}  state:\n    - { path: [${path}, |], value: x }\n`, fields],
    ['rules', 'rules.yaml', '', '\n- { rule: |, check: oneCall }\n', own.rules],
    ['fields in an expression', 'rules.yaml', '', condition, columns],
    ['tools in the policy', 'policy.md', '', '\n- Use `|\n', own.policy],
    [
      'arguments in a sentence of the lexicon',
      'domain.yaml',
      '\n  tools:',
      `\n    ${told}: { done: ['I looked at {|'] }`,
      [value],
    ],
    ['keys of domain.yaml', 'domain.yaml', '', '\n|\n', ['greeting', 'mcpServers']],
  ];
}

const newTask = (persona: string) => `\n- id: new-one\n  persona: ${persona}\n  user: { goal: G. }\n`;

const domainLinks: Sample['links'] = [
  ['domain.yaml', 'policy: policy.md', 'policy.md'],
  ['domain.yaml', 'database: database.json', 'database.json'],
];

const parcelDesk: Sample = {
  name: 'parcel-desk',
  completions: completionsIn({
    tasks: 'tasks/train.task.yaml',
    persona: 'brief',
    tools: ['find_parcel', 'reschedule', 'redirect', 'report'],
    arguments: ['redirect', ['parcel', 'locker']],
    rows: ['find_parcel', 'parcel', ['P01', 'P68']],
    personas: ['brief', 'fickle', 'vague'],
    facts: ['parcel', 'day', 'locker'],
    state: ['parcels, P68', ['status', 'day', 'to']],
    rules: ['look-up-first', 'delivered'],
    expression: ['delivered', 'db.parcels[args.parcel]', ['status', 'day', 'to']],
    policy: ['find_parcel', 'report'],
    sentence: ['find_parcel', 'parcel'],
  }),
  hovers: [
    ['tasks/train.task.yaml', 'reschedule,', /\*\*reschedule\*\* \(write[\s\S]*day/],
    ['tasks/train.task.yaml', 'P68 } }', /\*\*parcels\.P68\*\*[\s\S]*"status": "on the way"/],
    ['tasks/train.task.yaml', 'brief', /\*\*brief\*\* \(66 tasks\)[\s\S]*in a few words/],
    ['rules.yaml', 'one-call', /Make one tool call per message/],
    ['rules.yaml', 'gate: true\n', /makes the reward 0/],
    ['policy.md', 'find_parcel', /Where a parcel is/],
  ],
  definitions: [
    ['tasks/train.task.yaml', 'reschedule,', 'tools.ts', 'export const reschedule'],
    ['policy.md', 'find_parcel', 'tools.ts', 'export const find_parcel'],
    ['rules.yaml', 'look-up-first', 'policy.md', '{#look-up-first}'],
    ['tasks/train.task.yaml', 'brief', 'personas/brief.persona.yaml', 'id: brief'],
    ['tasks/train.task.yaml', 'day: Wednesday', 'domain.yaml', '    day:'],
  ],
  references: [
    ['rules.yaml', 'find_parcel', ['policy.md', 'rules.yaml', 'test.task.yaml', 'tools.ts', 'train.task.yaml']],
    ['policy.md', 'one-call', ['policy.md', 'rules.yaml']],
    ['personas/vague.persona.yaml', 'vague', ['test.task.yaml', 'train.task.yaml', 'vague.persona.yaml']],
  ],
  renames: [
    [
      'a tool',
      'rules.yaml',
      'find_parcel',
      'find_parcel',
      'see_parcel',
      ['policy.md', 'rules.yaml', 'tasks/test.task.yaml', 'tasks/train.task.yaml', 'tools.ts'],
    ],
    ['a rule', 'policy.md', 'confirm-before-write', 'confirm-before-write', 'ask-first', ['policy.md', 'rules.yaml']],
    [
      'a persona',
      'tasks/train.task.yaml',
      'brief',
      'brief',
      'short',
      ['personas/brief.persona.yaml', 'tasks/test.task.yaml', 'tasks/train.task.yaml'],
    ],
    ['a field of the database', 'database.json', 'status', 'status', 'stage', ['database.json', 'tools.ts']],
  ],
  outlines: [
    ['tasks/train.task.yaml', 'reschedule-P68', 'train, brief'],
    ['rules.yaml', 'confirm-before-write', 'confirmed'],
    ['policy.md', 'delivered', /^A delivered parcel cannot be moved/],
    ['domain.yaml', 'turnCap', '10'],
  ],
  folds: [
    ['tasks/train.task.yaml', 1, 11],
    ['rules.yaml', 6, 10],
    ['domain.yaml', 8, 36],
  ],
  links: domainLinks,
  colours: [
    [
      'policy.md',
      'Look the parcel up',
      [
        ['find_parcel', 'rehearsalTool'],
        ['look-up-first', 'rehearsalRule declaration'],
      ],
    ],
    ['rules.yaml', 'rule: look-up-first', [['look-up-first', 'rehearsalRule']]],
    ['rules.yaml', 'require:', [['find_parcel', 'rehearsalTool']]],
    [
      'rules.yaml',
      'names:',
      [
        ['parcel', 'rehearsalArgument'],
        ['day', 'rehearsalArgument'],
        ['locker', 'rehearsalArgument'],
      ],
    ],
    ['tasks/train.task.yaml', 'id: reschedule-P68', [['reschedule-P68', 'rehearsalTask declaration']]],
    ['tasks/train.task.yaml', 'persona:', [['brief', 'rehearsalPersona']]],
    [
      'tasks/train.task.yaml',
      'known:',
      [
        ['parcel', 'rehearsalFact'],
        ['day', 'rehearsalFact'],
      ],
    ],
    ['personas/fickle.persona.yaml', 'id:', [['fickle', 'rehearsalPersona declaration']]],
  ],
  format: ['rules.yaml', '- rule: one-call\n  check: oneCall\n', '- rule:   one-call\n  check:     oneCall\n'],
  lenses: ['tasks/train.task.yaml', 'reschedule-P68'],
};

const orderDesk: Sample = {
  name: 'order-desk',
  completions: [
    ...completionsIn({
      tasks: 'tasks/returns.task.yaml',
      persona: 'patient',
      tools: ['cancel_order', 'get_order'],
      arguments: ['cancel_order', ['order_id', 'reason']],
      rows: ['get_order', 'order_id', ['W1004']],
      personas: ['patient', 'guarded'],
      facts: ['postcode', 'reason'],
      state: ['orders, W1004', ['status', 'payments']],
      rules: ['authenticate', 'hand-off'],
      expression: ['authenticate', 'db.orders[args.order_id]', ['status', 'payments']],
      policy: ['cancel_order'],
      sentence: ['get_order', 'order_id'],
    }),
    [
      'values by the schema',
      'tasks/returns.task.yaml',
      '',
      `${newTask('patient')}  actions:\n    - { tool: cancel_order, arguments: { reason: | } }\n`,
      ['no longer needed', 'ordered by mistake'],
    ],
  ],
  hovers: [
    ['tasks/cancellations.task.yaml', 'cancel_order', /\*\*cancel_order\*\* \(write[\s\S]*order_id/],
    ['tasks/cancellations.task.yaml', 'W1014 }', /orders\.W1014/],
    ['tasks/cancellations.task.yaml', 'patient', /no hurry/],
    ['rules.yaml', 'gate: true\n', /makes the reward 0/],
    ['rules.yaml', 'confirm-before-write', /explicit yes/],
    ['policy.md', 'calculate', /\*\*calculate\*\*/],
  ],
  definitions: [
    ['tasks/cancellations.task.yaml', 'cancel_order', 'tools.ts', 'const cancel_order'],
    ['rules.yaml', 'look-up-first', 'policy.md', '{#look-up-first}'],
    ['tasks/cancellations.task.yaml', 'patient', 'personas/patient.persona.yaml', 'id: patient'],
    ['tasks/cancellations.task.yaml', 'email, order_id', 'domain.yaml', '    email:'],
    ['rules.yaml', 'unsure)', 'phrases.yaml', 'unsure:'],
  ],
  references: [
    [
      'rules.yaml',
      'change_payment',
      ['changes.task.yaml', 'domain.yaml', 'rules.yaml', 'test.task.yaml', 'tools.ts', 'train.task.yaml'],
    ],
    ['policy.md', 'change-once', ['policy.md', 'rules.yaml']],
    [
      'personas/hurried.persona.yaml',
      'hurried',
      ['changes.task.yaml', 'hurried.persona.yaml', 'test.task.yaml', 'train.task.yaml'],
    ],
  ],
  renames: [
    [
      'a tool',
      'tasks/cancellations.task.yaml',
      'cancel_order',
      'cancel_order',
      'stop_order',
      [
        'domain.yaml',
        'rules.yaml',
        'tasks/cancellations.task.yaml',
        'tasks/changes.task.yaml',
        'tasks/test.task.yaml',
        'tasks/train.task.yaml',
        'tools.ts',
      ],
    ],
    ['a rule', 'rules.yaml', 'change-once', 'change-once', 'one-change', ['policy.md', 'rules.yaml']],
    [
      'a persona',
      'personas/patient.persona.yaml',
      'patient',
      'patient',
      'calm',
      [
        'personas/patient.persona.yaml',
        'tasks/cancellations.task.yaml',
        'tasks/changes.task.yaml',
        'tasks/returns.task.yaml',
        'tasks/test.task.yaml',
        'tasks/train.task.yaml',
      ],
    ],
    [
      'a field of the database',
      'rules.yaml',
      'items_changed',
      'items_changed',
      'was_changed',
      ['rules.yaml', 'tools.ts'],
    ],
  ],
  outlines: [
    ['tasks/cancellations.task.yaml', 'mistaken-order', 'train, patient'],
    ['rules.yaml', 'authenticate', 'before'],
    ['policy.md', 'confirm-before-write', /^Before any call that changes something/],
  ],
  folds: [
    ['tasks/lamp-variant.task.yaml', 8, 25],
    ['tasks/cancellations.task.yaml', 1, 19],
    ['phrases.yaml', 4, 18],
  ],
  links: domainLinks,
  colours: [
    [
      'policy.md',
      'If you add up amounts',
      [
        ['calculate', 'rehearsalTool'],
        ['no-guessing', 'rehearsalRule declaration'],
      ],
    ],
    [
      'rules.yaml',
      'condition: not db.orders',
      [
        ['not', 'keyword'],
        ['orders', 'rehearsalField'],
        ['order_id', 'rehearsalArgument'],
        ['items_changed', 'rehearsalField'],
      ],
    ],
    [
      'rules.yaml',
      'any(sentences(message), s, not says(s, phrases.unsure)',
      [
        ['any', 'function'],
        ['sentences', 'function'],
        ['not', 'keyword'],
        ['says', 'function'],
        ['unsure', 'rehearsalPhrases'],
      ],
    ],
    ['phrases.yaml', 'unsure:', [['unsure', 'rehearsalPhrases declaration']]],
    [
      'tasks/lamp-variant.task.yaml',
      'tool: list_variants',
      [
        ['list_variants', 'rehearsalTool'],
        ['product', 'rehearsalArgument'],
      ],
    ],
  ],
  format: [
    'rules.yaml',
    '- rule: one-call # by itself\n  check: oneCall\n',
    '- rule:   one-call   # by itself\n  check:   oneCall\n',
  ],
  lenses: ['tasks/cancellations.task.yaml', 'mistaken-order'],
};

const helpLine: Sample = {
  name: 'help-line',
  completions: [
    ...completionsIn({
      tasks: 'tasks/train.task.yaml',
      persona: 'patient',
      tools: ['unlock_port', 'restart_router'],
      arguments: ['register_router', ['line', 'serial']],
      rows: ['get_line', 'line', ['L2001']],
      personas: ['terse', 'undecided'],
      facts: ['pin', 'plan'],
      state: ['lines, L2001', ['port', 'profile']],
      rules: ['verify-first', 'no-credits'],
      expression: ['own-line', 'db.lines[args.line]', ['login_expired', 'port']],
      policy: ['reset_login'],
      sentence: ['get_line', 'line'],
    }),
    [
      'fields of the database of the user',
      'tasks/train.task.yaml',
      '',
      `${newTask('patient')}  state:\n    - { side: user, path: [router, |], value: x }\n`,
      ['serial', 'firmware'],
    ],
  ],
  hovers: [
    ['tasks/train.task.yaml', 'unlock_port', /\*\*unlock_port\*\* \(write[\s\S]*line/],
    ['tasks/train.task.yaml', 'check_lights', /\*\*check_lights\*\* \(read, called by the user, TypeScript\)/],
    ['rules.yaml', 'login_expired', /\*\*lines\.\*\.login_expired\*\* \(the agent's database\)/],
    ['rules.yaml', 'serial-from-label', /A line serves one registered router/],
    ['tasks/train.task.yaml', 'terse', /meeting in ten minutes/],
  ],
  definitions: [
    ['tasks/train.task.yaml', 'check_lights', 'tools.ts', 'export const check_lights'],
    ['rules.yaml', 'serial-from-label', 'policy.md', '{#serial-from-label}'],
    ['tasks/train.task.yaml', 'terse', 'personas/terse.persona.yaml', 'id: terse'],
    ['tasks/train.task.yaml', 'pin: "5300"', 'domain.yaml', '    pin:'],
  ],
  references: [
    ['rules.yaml', 'unlock_port', ['domain.yaml', 'rules.yaml', 'test.task.yaml', 'tools.ts', 'train.task.yaml']],
    ['policy.md', 'own-line', ['policy.md', 'rules.yaml']],
    ['personas/terse.persona.yaml', 'terse', ['terse.persona.yaml', 'test.task.yaml', 'train.task.yaml']],
  ],
  renames: [
    [
      'a tool of the agent',
      'rules.yaml',
      'unlock_port',
      'unlock_port',
      'open_port',
      ['domain.yaml', 'rules.yaml', 'tasks/test.task.yaml', 'tasks/train.task.yaml', 'tools.ts'],
    ],
    [
      'a tool of the user',
      'tasks/train.task.yaml',
      'restart_router',
      'restart_router',
      'reboot_router',
      ['domain.yaml', 'tasks/test.task.yaml', 'tasks/train.task.yaml', 'tools.ts'],
    ],
    ['a rule', 'rules.yaml', 'stable-profile', 'stable-profile', 'steady-profile', ['policy.md', 'rules.yaml']],
    [
      'a persona',
      'personas/terse.persona.yaml',
      'terse',
      'terse',
      'curt',
      ['personas/terse.persona.yaml', 'tasks/test.task.yaml', 'tasks/train.task.yaml'],
    ],
    [
      'a field of the database of the agent',
      'rules.yaml',
      'errors >=',
      'errors',
      'faults_an_hour',
      ['database.json', 'rules.yaml', 'tools.ts'],
    ],
    [
      'a field of the database of the user',
      'user.json',
      'networks',
      'networks',
      'neighbours',
      ['tasks/test.task.yaml', 'tasks/train.task.yaml', 'tools.ts', 'user.json'],
    ],
  ],
  outlines: [
    ['tasks/train.task.yaml', 'surge-L2001', 'train, patient'],
    ['rules.yaml', 'own-line', 'onlyIf'],
    ['policy.md', 'no-guessing', /^Never guess what the customer sees/],
  ],
  folds: [
    ['tasks/train.task.yaml', 1, 20],
    ['rules.yaml', 22, 28],
    ['domain.yaml', 8, 20],
  ],
  links: [['domain.yaml', 'userDatabase: user.json', 'user.json'], ...domainLinks],
  colours: [
    [
      'rules.yaml',
      'db.lines[args.line].port ==',
      [
        ['lines', 'rehearsalField'],
        ['line', 'rehearsalArgument'],
        ['port', 'rehearsalField'],
        ['"locked"', 'string'],
      ],
    ],
    [
      'rules.yaml',
      'errors >= 50',
      [
        ['lines', 'rehearsalField'],
        ['line', 'rehearsalArgument'],
        ['errors', 'rehearsalField'],
        ['50', 'number'],
        ['and', 'keyword'],
        ['profile', 'rehearsalArgument'],
        ['"stable"', 'string'],
      ],
    ],
    [
      'tasks/train.task.yaml',
      'path: [router, serial]',
      [
        ['router', 'rehearsalField'],
        ['serial', 'rehearsalField'],
      ],
    ],
    [
      'domain.yaml',
      'done: ["The port of {line}',
      [
        ['line', 'rehearsalArgument'],
        ['line', 'rehearsalArgument'],
      ],
    ],
    ['policy.md', '{#own-line}', [['own-line', 'rehearsalRule declaration']]],
  ],
  format: [
    'rules.yaml',
    '- rule: one-call\n  check: oneCall\n  silent: true\n',
    '- rule:  one-call\n  check:   oneCall\n  silent:   true\n',
  ],
  lenses: ['tasks/train.task.yaml', 'surge-L2001'],
};

/** The sample domains with their language features. */
export const samples: readonly Sample[] = [parcelDesk, orderDesk, helpLine];
