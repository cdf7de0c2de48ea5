import { statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { completeDomain, loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { desk, deskTools, type Files, folderOf, load, shown, told } from '../load/domainFolder.ts';

const task = (text: string): Files => ({ 'tasks/first.task.yaml': text });

describe('a domain without faults', () => {
  it('loads without findings', () => {
    const loaded = load({}, deskTools);
    expect(shown(loaded)).toEqual([]);
    expect(loaded.domain.name).toBe('desk');
    expect(loaded.domain.tools.map(({ name }) => name)).toEqual(['find_order', 'cancel_order']);
    expect(loaded.domain.policy.text).toBe(
      '# Desk\n\n- Look the order up first.\n- Ask for a yes before any change.\n',
    );
    expect(loaded.world).toEqual({ agent: JSON.parse(String(desk['database.json'])), user: {} });
  });

  it('knows the places of all parts', () => {
    const { locations } = load();
    const lines = (of: ReadonlyMap<string, { line: number }>) =>
      Object.fromEntries([...of].map(([id, { line }]) => [id, line]));
    expect(lines(locations.policyRules)).toEqual({ 'look-up': 3, confirm: 4 });
    expect(lines(locations.tools)).toEqual({ find_order: 4, cancel_order: 5 });
    expect(lines(locations.tasks)).toEqual({ cancel: 1 });
    expect(locations.tasks.get('cancel')?.actions.map((at) => at?.line)).toEqual([7, 8]);
    expect(locations.rules.map((at) => at?.line)).toEqual([1]);
  });

  it('names its code tools without running code', () => {
    expect(load({ 'tools.ts': `throw new Error('never runs');\n${desk['tools.ts']}` }).toolNames).toEqual([
      'find_order',
      'cancel_order',
    ]);
  });

  it('ignores a byte order mark and accepts CRLF', () => {
    const plain = load();
    const windows = Object.fromEntries(
      Object.entries(desk).map(([path, text]) => [path, `\ufeff${String(text).replaceAll('\n', '\r\n')}`]),
    );
    const loaded = load(windows);
    expect(shown(loaded)).toEqual([]);
    expect(loaded.domain).toEqual(plain.domain);
    expect(loaded.locations.tasks.get('cancel')?.actions.map((at) => at?.line)).toEqual([7, 8]);
  });

  it('reads lists and single values alike', () => {
    const one = String(desk['tasks/first.task.yaml']);
    const other = one.replace('id: cancel', 'id: second').replaceAll('W1', 'W2');
    const list = [one, other].map((text) => `- ${text.trimEnd().replaceAll('\n', '\n  ')}\n`).join('');
    const loaded = load(
      { ...task(list), 'rules.yaml': 'rules:\n  - { rule: confirm, check: confirmed, names: [order] }\n' },
      deskTools,
    );
    expect(shown(loaded)).toEqual([]);
    expect(loaded.tasks.map(({ id }) => id)).toEqual(['cancel', 'second']);
    expect(loaded.locations.tasks.get('second')?.line).toBe(9);
    expect(loaded.locations.rules[0]?.line).toBe(2);
  });

  it('merges the maps that << names, and finds their parts at the anchor', () => {
    const first = String(desk['tasks/first.task.yaml']);
    const list = `- &first\n  ${first.trimEnd().replaceAll('\n', '\n  ')}\n- <<: *first\n  id: second\n  user: { goal: Please cancel W1., known: { order: W1 } }\n`;
    const loaded = load(task(list), deskTools);
    expect(shown(loaded)).toEqual([]);
    expect(loaded.tasks.map(({ id, persona }) => `${id} ${persona}`)).toEqual(['cancel plain', 'second plain']);
    expect(loaded.locations.tasks.get('second')?.line).toBe(10);
    expect(loaded.locations.tasks.get('second')?.actions.map((at) => at?.line)).toEqual([8, 9]);
    const misspelt = load(task(list.replace('tool: cancel_order', 'tool: cancel_ordr')), deskTools);
    expect(shown(misspelt).filter((each) => each.includes('unknown-tool'))).toEqual([
      'tasks/first.task.yaml:9:15 error task/unknown-tool',
    ]);
  });

  it('takes the unsaved text of an editor instead of the file', () => {
    const folder = folderOf(desk);
    const overlay = new Map([
      [join(folder, 'policy.md'), '- Say hello. {#hello}\n'],
      [join(folder, 'rules.yaml'), '- { rule: hello, check: oneCall }'],
    ]);
    const loaded = loadDomain(folder, { overlay });
    expect(shown(loaded)).toEqual([]);
    expect(loaded.domain.policy.rules.map(({ id }) => id)).toEqual(['hello']);
  });
});

describe('the identity of a domain', () => {
  const cases: readonly [string, Files, boolean][] = [
    ['a task', task(String(desk['tasks/first.task.yaml']).replace('Cancel order', 'Drop order')), true],
    ['the policy', { 'policy.md': `${desk['policy.md']}\nMore.\n` }, false],
    ['a tool', { 'tools.ts': `${desk['tools.ts']}// more\n` }, false],
    ['what a tool imports', { 'tools.ts': `import './more.ts';\n${desk['tools.ts']}`, 'more.ts': 'export {};' }, false],
    ['the database', { 'database.json': '{}' }, false],
    ['a persona', { 'personas/plain.persona.yaml': 'id: plain\ndescription: Other.\n' }, false],
    ['the rules', { 'rules.yaml': '[]' }, false],
    ['a default', { 'domain.yaml': 'name: desk\nturnCap: 31\n' }, false],
    ['a comment in domain.yaml', { 'domain.yaml': '# A desk.\nname: desk\n' }, true],
  ];
  it.each(cases)('%s', (_, files, same) => {
    expect(load(files).domain.hash === load().domain.hash).toBe(same);
  });
});

describe('a file that is wrong gives one finding', () => {
  const cases: readonly [string, Files, string, RegExp][] = [
    [
      'no domain.yaml',
      { 'domain.yaml': null },
      'domain.yaml:1:1 error domain/file-missing',
      /domain.yaml does not exist.*folder with a domain.yaml/,
    ],
    [
      'a folder as domain.yaml',
      { 'domain.yaml': null, 'domain.yaml/': '' },
      'domain.yaml:1:1 error domain/not-a-file',
      /is a folder/,
    ],
    [
      'no policy',
      { 'policy.md': null },
      'domain.yaml:1:1 error policy/file-missing',
      /policy.md does not exist.*`policy:`/,
    ],
    [
      'a named policy that is missing',
      { 'domain.yaml': 'name: desk\npolicy: p.md\n' },
      'domain.yaml:2:9 error policy/file-missing',
      /p.md does not exist/,
    ],
    [
      'a folder as policy',
      { 'policy.md': null, 'policy.md/': '' },
      'domain.yaml:1:1 error policy/not-a-file',
      /is a folder/,
    ],
    ['empty tools', { 'tools.ts': '\n' }, 'tools.ts:1:1 error tool/empty', /The file is empty\. Write the tools/],
    [
      'an empty policy beside rules',
      { 'policy.md': '', 'rules.yaml': '- { rule: look-up, check: oneCall }\n' },
      'policy.md:1:1 error policy/empty',
      /Write the rules that rules\.yaml checks/,
    ],
    [
      'a policy outside the folder',
      { 'domain.yaml': 'name: desk\npolicy: ../p.md\n' },
      'domain.yaml:2:9 error domain/path-outside',
      /outside the domain/,
    ],
    [
      'a policy that is not UTF-8',
      { 'policy.md': new Uint8Array([0x2d, 0x20, 0xff, 0xfe]) },
      'domain.yaml:1:1 error policy/unreadable',
      /not a text in UTF-8/,
    ],
    [
      'no database',
      { 'database.json': null },
      'domain.yaml:1:1 error database/file-missing',
      /database.json does not exist/,
    ],
    ['an empty database', { 'database.json': '' }, 'database.json:1:1 error database/empty', /Write \{\}/],
    [
      'a database that is a list',
      { 'database.json': '[]' },
      'database.json:1:1 error database/wrong-type',
      /is a list, but an object/,
    ],
    [
      'a trailing comma',
      { 'database.json': '{\n  "orders": {"W1": {},}\n}' },
      'database.json:2:23 error database/syntax',
      /Remove the last comma/,
    ],
    [
      'a comment in JSON',
      { 'database.json': '{ // none\n}' },
      'database.json:1:3 error database/syntax',
      /no comments/,
    ],
    ['a cut-off database', { 'database.json': '{"orders": {' }, 'database.json:1:13 error database/syntax', /not JSON/],
    [
      'a dangerous key',
      { 'database.json': '{"__proto__": {}}' },
      'database.json:1:2 error database/forbidden-key',
      /__proto__/,
    ],
    [
      'no persona folder',
      {
        'personas/plain.persona.yaml': null,
        'tasks/first.task.yaml': null,
        'tasks/x.task.yaml': null,
        'tasks/': '',
        'personas/': '',
      },
      'domain.yaml:1:1 warning persona/none',
      /no personas/,
    ],
    [
      'a tab',
      task('id: a\n\tpersona: b\n'),
      'tasks/first.task.yaml:2:1 error task/syntax',
      /not YAML.*Indent with spaces/,
    ],
    [
      'an open quote',
      task('id: "a\npersona: b\n'),
      'tasks/first.task.yaml:1:5 error task/syntax',
      /quote " is not closed/,
    ],
    [
      'a key twice',
      task('id: a\nid: b\n'),
      'tasks/first.task.yaml:2:1 error task/duplicate-key',
      /The key id appears here a second time/,
    ],
    ['two documents', task('id: a\n---\nid: b\n'), 'tasks/first.task.yaml:2:1 error task/syntax', /one document/],
    ['an unknown alias', task('id: *missing\n'), 'tasks/first.task.yaml:1:5 error task/syntax', /alias/i],
    [
      'a merge of a text',
      task('id: a\n<<: b\n'),
      'tasks/first.task.yaml:2:1 error task/syntax',
      /sources must be maps/,
    ],
    [
      'an empty task file',
      task('# nothing yet\n'),
      'tasks/first.task.yaml:1:1 error task/empty',
      /no task in this file/,
    ],
    ['an empty list of tasks', task('[]\n'), 'tasks/first.task.yaml:1:1 error task/empty', /no task in this file/],
    [
      'a text as task',
      task('hello\n'),
      'tasks/first.task.yaml:1:1 error task/wrong-type',
      /"hello", but one task or a list of tasks is expected\. Write the keys of the task/,
    ],
    [
      'a map as rules',
      { 'rules.yaml': 'confirm: yes\n' },
      'rules.yaml:1:1 error rule/wrong-type',
      /a map, but a list of rules/,
    ],
    [
      'a list as domain',
      { 'domain.yaml': '- name: a\n- name: b\n' },
      'domain.yaml:1:1 error domain/wrong-type',
      /a list, but one domain/,
    ],
    [
      'a file with another name',
      { 'tasks/second.yaml': 'id: a\n' },
      'tasks/second.yaml:1:1 warning task/ignored-file',
      /does not end with \.task\.yaml/,
    ],
    [
      'rules with another ending',
      { 'rules.yaml': null, 'rules.yml': '- { rule: confirm, check: confirmed }\n' },
      'rules.yml:1:1 warning rule/ignored-file',
      /the domain reads rules\.yaml\. Rename it to rules\.yaml, or write rules: rules\.yml in domain\.yaml/,
    ],
  ];
  it.each(cases)('%s', (_, files, finding, words) => {
    const loaded = load(files);
    expect(shown(loaded)).toContain(finding);
    expect(loaded.diagnostics.filter(({ code }) => finding.endsWith(code))).toHaveLength(1);
    const at = loaded.diagnostics.findIndex(({ code }) => finding.endsWith(code));
    expect(told({ ...loaded, diagnostics: loaded.diagnostics.slice(at) })).toMatch(words);
  });

  it.each(['name: 42\n', 'turnCap: 5\n'])('a domain without a usable name has that of its folder: %j', (text) => {
    const { domain, folder } = load({ 'domain.yaml': text });
    expect(domain.name).toBe(basename(folder));
  });

  it('a broken task does not affect the others', () => {
    const loaded = load({ 'tasks/broken.task.yaml': 'id: a\n id: b\n' });
    expect(shown(loaded)).toEqual(['tasks/broken.task.yaml:2:1 error task/syntax']);
    expect(loaded.tasks.map(({ id }) => id)).toEqual(['cancel']);
  });
});

describe('a value that is wrong gives one finding', () => {
  const good = String(desk['tasks/first.task.yaml']);
  const cases: readonly [string, Files, string, string][] = [
    [
      'an unknown key',
      task(`${good}asertions: []\n`),
      'tasks/first.task.yaml:9:1 error task/unknown-key',
      'The key asertions is not known here. Did you mean "assertions"?',
    ],
    [
      'an unknown key in a map',
      task(good.replace('  goal:', '  gaol: x\n  goal:')),
      'tasks/first.task.yaml:4:3 error task/unknown-key',
      'The key gaol is not known here. Did you mean "goal"?',
    ],
    [
      'a missing key',
      task(good.replace('persona: plain\n', '')),
      'tasks/first.task.yaml:1:1 error task/missing-key',
      'persona is missing. Write persona: id of a persona of this domain.',
    ],
    [
      'a missing key of an action',
      task(good.replace('tool: find_order, ', '')),
      'tasks/first.task.yaml:7:5 error task/missing-key',
      'actions[0].tool',
    ],
    [
      'a number as text',
      task(good.replace('goal: Cancel order W1.', 'goal: 7')),
      'tasks/first.task.yaml:4:9 error task/wrong-type',
      'user.goal is 7, but a text is expected. What the user wants, written in the second person: "You want to return your lamp."',
    ],
    [
      'nothing where a text is due',
      task(good.replace('goal: Cancel order W1.', 'goal:')),
      'tasks/first.task.yaml:4:3 error task/wrong-type',
      'user.goal is empty, but a text is expected.',
    ],
    [
      'a list as fact',
      task(good.replace('{ order: W1 }\nactions', '{ order: [W1] }\nactions')),
      'tasks/first.task.yaml:5:19 error task/wrong-type',
      'user.known.order is a list, but a text or a number or true or false or a map of keys and values is expected.',
    ],
    [
      'a word for a choice',
      task(`${good}split: tset\n`),
      'tasks/first.task.yaml:9:8 error task/wrong-value',
      'split is "tset", but one of train, test is expected. Did you mean "test"?',
    ],
    [
      'a bad id',
      task(good.replace('id: cancel', 'id: "cancel it"')),
      'tasks/first.task.yaml:1:5 error task/wrong-value',
      'id is "cancel it": a task id is at most 160 letters, digits, dots, dashes and underscores, beginning with a letter or digit. Write for example cancel-it.',
    ],
    [
      'an empty list',
      task(`${good}evaluate: []\n`),
      'tasks/first.task.yaml:9:11 error task/wrong-value',
      'evaluate is an empty list, but at least 1 entry is expected.',
    ],
    [
      'a number too big',
      { 'domain.yaml': 'name: desk\nturnCap: 5000\n' },
      'domain.yaml:2:10 error domain/wrong-value',
      'turnCap is 5000, but at most 1000 is expected.',
    ],
    [
      'a word for a number',
      { 'domain.yaml': 'name: desk\nturnCap: many\n' },
      'domain.yaml:2:10 error domain/wrong-type',
      'turnCap is "many", but a number is expected.',
    ],
    [
      'a fraction',
      { 'domain.yaml': 'name: desk\nturnCap: 1.5\n' },
      'domain.yaml:2:10 error domain/wrong-type',
      'turnCap is 1.5, but a whole number is expected.',
    ],
    [
      'an unknown check',
      { 'rules.yaml': '- { rule: confirm, check: confirm }\n' },
      'rules.yaml:1:27 error rule/wrong-value',
      'check is "confirm", but one of before, confirmed, oneCall, onlyIf, never, mustSay, handOff, judge is expected. Did you mean "confirmed"?',
    ],
    [
      'no check',
      { 'rules.yaml': '- { rule: confirm }\n' },
      'rules.yaml:1:3 error rule/missing-key',
      'check is missing. Write check: and one of before, confirmed, oneCall, onlyIf, never, mustSay, handOff, judge.',
    ],
    [
      'an unknown behaviour',
      { 'personas/plain.persona.yaml': 'id: plain\ndescription: x\nbehaviours: { omit: true }\n' },
      'personas/plain.persona.yaml:3:15 error persona/unknown-key',
      'The key omit is not known here. Did you mean "omits"?',
    ],
  ];
  it.each(cases)('%s', (_, files, finding, words) => {
    const loaded = load(files);
    const own = loaded.diagnostics.filter(({ code }) => !code.endsWith('/none'));
    expect(shown(loaded, own)).toEqual([finding]);
    if (!finding.endsWith('missing-key') || words.includes('Write'))
      expect(`${own[0]?.message} ${own[0]?.hint}`).toContain(words);
  });
});

describe('an imported policy', () => {
  const imported =
    '# Rules\n\nSome words.\n\n1. Never refund *twice*.\n2. Obtain explicit\n   confirmation (yes) first.\n';
  const withRules = (rules: string) => load({ 'policy.md': imported, 'rules.yaml': rules });

  it('binds a check to the list item that contains the quote', () => {
    const loaded = withRules('- { rule: "obtain explicit confirmation", check: confirmed }\n');
    expect(shown(loaded)).toEqual([]);
    expect(loaded.domain.policy.rules).toEqual([
      {
        id: 'obtain-explicit-confirmation-yes-first',
        text: 'Obtain explicit confirmation (yes) first.',
        line: 6,
        endLine: 7,
      },
    ]);
    expect(loaded.domain.rules[0]?.rule).toBe('obtain-explicit-confirmation-yes-first');
    expect(loaded.locations.policyRules.get('obtain-explicit-confirmation-yes-first')?.line).toBe(6);
    expect(loaded.domain.policy.text).toBe(imported);
  });

  it('reports a quote that is not in the policy', () => {
    expect(shown(withRules('- { rule: "be nice to them", check: oneCall }\n'))).toEqual([
      'rules.yaml:1:11 error rule/unknown-rule',
    ]);
  });

  it('reports a quote that is ambiguous', () => {
    const loaded = load({
      'policy.md': '- Be kind to all.\n- Be kind to one.\n',
      'rules.yaml': '- { rule: "be kind", check: oneCall }\n',
    });
    expect(shown(loaded)).toEqual(['rules.yaml:1:11 warning rule/ambiguous-quote']);
  });
});

describe('speed', () => {
  it('parses a database once, and again when it changed', () => {
    const folder = folderOf(desk);
    const file = join(folder, 'database.json');
    const first = loadDomain(folder).world.agent;
    expect(loadDomain(folder).world.agent).toBe(first);
    const { mtime } = statSync(file);
    writeFileSync(file, '{"orders": {}}');
    utimesSync(file, mtime, new Date(mtime.getTime() + 2000));
    expect(loadDomain(folder).world.agent).toEqual({ orders: {} });
  });

  it('reports where data is nested too deeply', () => {
    const [lists, ends] = ['['.repeat(20_000), ']'.repeat(20_000)];
    const state = (value: string) =>
      task(`${String(desk['tasks/first.task.yaml'])}state: [{ path: [orders, W1], value: ${value} }]\n`);
    const cases: readonly [Files, string][] = [
      [{ 'database.json': `{"orders": ${lists}${ends}}` }, 'database.json:1:1 error database/too-deep'],
      [{ 'database.json': `{"orders": ${lists}` }, 'database.json:1:1 error database/syntax'],
      [state(`${lists}${ends}`), 'tasks/first.task.yaml:1:1 error task/too-deep'],
      [state(`${'['.repeat(250)}${']'.repeat(250)}`), 'tasks/first.task.yaml:1:1 error task/too-deep'],
      [state('&own { inner: *own }'), 'tasks/first.task.yaml:1:1 error task/'],
    ];
    for (const [files, finding] of cases)
      expect(shown(load(files)).filter((each) => each.includes(' error '))).toEqual([expect.stringContaining(finding)]);
    expect(shown(load(state(`${'['.repeat(150)}${']'.repeat(150)}`)))).toEqual([]);
  });

  it('reports whole numbers of a YAML file that are too large', () => {
    const text = String(desk['tasks/first.task.yaml']).replace(
      '{ order: W1 }\n',
      '{ order: W1, account: 12345678901234567890, kept: 9007199254740991, exact: 9007199254740994, text: "12345678901234567890" }\n',
    );
    const loaded = load(task(text));
    expect(shown(loaded)).toEqual([
      'tasks/first.task.yaml:5:32 warning task/unkept-number',
      'tasks/first.task.yaml:5:85 warning task/unkept-number',
    ]);
    expect(loaded.diagnostics.map(({ message }) => message)).toEqual([
      'The number 12345678901234567890 is so large that Rehearsal reads it as a text.',
      'The number 9007199254740994 is so large that Rehearsal reads it as a text.',
    ]);
    expect(loaded.domain.tasks[0]?.user.known).toMatchObject({
      account: '12345678901234567890',
      kept: 9007199254740991,
      exact: '9007199254740994',
    });
    const tooLarge = load({ 'domain.yaml': `name: desk\nturnCap: ${'9'.repeat(400)}\n` });
    expect(shown(tooLarge)).toContain('domain.yaml:2:10 error domain/unkept-number');
  });

  it('counts the keys of JSON, but not a quoted colon or an escaped quote', () => {
    const rows = '{"a\\"b": "x\\": 1", "c" : {"d\\\\":[{"e":1},{"e":2}]}, "text": "\\\\"}';
    expect(shown(load({ 'database.json': `{"orders": {"W1": ${rows}}}` }))).toEqual([]);
    const twice = rows.replace('"text"', '"c"');
    expect(shown(load({ 'database.json': `{"orders": {"W1": ${twice}}}` }))).toEqual([
      expect.stringMatching(/^database\.json:1:\d+ error database\/duplicate-key$/),
    ]);
  });

  it('offers no fixes for imported tasks, but offers them for tasks that were added', () => {
    const wrong = String(desk['tasks/first.task.yaml']).replace('persona: plain', 'persona: plane');
    const imported = `${wrong}origin: { benchmark: tau2, id: '1' }\n`;
    const added = wrong.replace('id: cancel', 'id: added').replaceAll('W1', 'W2');
    const offers = (files: Files) =>
      load(files).diagnostics.map(({ code, file, fix }) => `${code} ${basename(file)} ${fix ? 'fix' : 'no fix'}`);
    expect(offers(task(wrong))).toEqual(['task/unknown-persona first.task.yaml fix']);
    expect(offers({ ...task(imported), 'tasks/more.task.yaml': added })).toEqual([
      'task/unknown-persona first.task.yaml no fix',
      'task/unknown-persona more.task.yaml fix',
    ]);
  });

  it('completes a domain without reading it again', () => {
    const loaded = load();
    const complete = completeDomain(loaded, deskTools);
    expect(complete.domain.tasks).toBe(loaded.domain.tasks);
    expect(complete.domain.hash).toBe(loaded.domain.hash);
  });
});
