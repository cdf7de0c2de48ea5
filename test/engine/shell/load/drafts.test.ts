import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { templateFiles } from '../../../../src/authoring/domains/domainTemplate.ts';
import { writeNew } from '../../../../src/authoring/domains/newFolder.ts';
import { acceptDraft } from '../../../../src/authoring/drafts/acceptDraft.ts';
import { gate } from '../../../../src/engine/shell/audit/draftGate.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { draftsOf } from '../../../../src/engine/shell/load/drafts.ts';
import { smallDomain } from '../../../support/smallDomain.ts';
import { inFullSuite } from '../../../support/suite.ts';

const extend = (id: string, loan: string, more = '') => `id: ${id}
draft: true
persona: plain
user:
  goal: You want your loan ${loan} extended to 2026-04-01.
  known: { loan: ${loan}, due: "2026-04-01" }
actions:
  - { tool: extend_loan, arguments: { loan: ${loan}, due: "2026-04-01" } }
${more}`;

function desk(files: Readonly<Record<string, string>> = {}): string {
  const folder = join(smallDomain({}, ''), 'desk');
  writeNew(folder, { ...templateFiles('templates', 'empty', {}), ...files });
  return folder;
}

const signal = new AbortController().signal;
const codes = (folder: string) => loadDomain(folder).diagnostics.map(({ severity, code }) => `${severity} ${code}`);

describe('a draft', () => {
  test('is read and reported, but is not part of the domain', () => {
    const plain = loadDomain(desk());
    const folder = desk({
      'tasks/drill.task.yaml': extend('drill', 'L2'),
      'personas/shy.persona.yaml': 'id: shy\ndraft: true\ndescription: Says little.\n',
    });
    const loaded = loadDomain(folder);
    expect(loaded.tasks.map(({ id }) => id)).toEqual(['extend-ladder']);
    expect(loaded.domain.personas.map(({ id }) => id)).toEqual(['plain']);
    expect(loaded.domain.hash).toBe(plain.domain.hash);
    expect(draftsOf(loaded.parts).map(({ kind, placed }) => `${kind} ${placed.value.id}`)).toEqual([
      'persona shy',
      'task drill',
    ]);
    expect(codes(folder)).toEqual(['info persona/draft', 'info task/draft']);
    expect(loaded.diagnostics.map(({ about }) => about)).toEqual(['shy', 'drill']);
  });

  test('with an error does not prevent a run', () => {
    const folder = desk({
      'tasks/drill.task.yaml': extend('drill', 'L2').replace('extend_loan', 'extend_lone'),
      'tasks/half.task.yaml': 'id: half\ndraft: true\n',
    });
    expect(codes(folder)).toEqual([
      'info task/draft',
      'warning task/unknown-tool',
      'warning task/missing-key',
      'warning task/missing-key',
    ]);
  });

  test('does not count for coverage', () => {
    const folder = desk({
      'tasks/extend.task.yaml': 'id: other\npersona: plain\nuser: { goal: You want nothing. }\n',
      'tasks/drill.task.yaml': extend('drill', 'L2'),
    });
    expect(codes(folder)).toContain('info tool/unused');
  });

  test('is reported as the duplicate of an equal task, regardless of their order', () => {
    const own = readFileSync(join(desk(), 'tasks/extend.task.yaml'), 'utf8');
    const folder = desk({ 'tasks/a.task.yaml': own.replace('id: extend-ladder', 'id: again\ndraft: true') });
    expect(loadDomain(folder).diagnostics).toMatchObject([
      { code: 'task/duplicate-content', file: join(folder, 'tasks/a.task.yaml') },
      { code: 'task/draft' },
    ]);
  });

  test('of a persona cannot have a task that is not a draft', () => {
    const folder = desk({ 'personas/plain.persona.yaml': 'id: plain\ndraft: true\ndescription: Plain.\n' });
    expect(codes(folder)).toEqual(['info persona/draft', 'error task/draft-persona']);
  });

  test('of a persona cannot be laid over another for a task that is not a draft', () => {
    const own = readFileSync(join(desk(), 'tasks/extend.task.yaml'), 'utf8');
    const folder = desk({
      'personas/shy.persona.yaml': 'id: shy\ndraft: true\ndescription: Says little.\n',
      'tasks/extend.task.yaml': own.replace('persona: plain', 'persona: plain\nunder: shy'),
    });
    expect(loadDomain(folder).diagnostics).toMatchObject([
      { code: 'persona/draft' },
      {
        code: 'task/draft-persona',
        severity: 'error',
        file: join(folder, 'tasks/extend.task.yaml'),
        line: 1 + own.split('\n').indexOf('persona: plain') + 1,
        message: 'The persona shy is a draft, so it cannot be applied on top of another persona.',
      },
    ]);
  });

  test('is found in any subfolder of tasks and personas', () => {
    const folder = desk({
      'tasks/drafts/drill.task.yaml': extend('drill', 'L2').replace('persona: plain', 'persona: shy'),
      'personas/drafts/shy.persona.yaml': 'id: shy\ndraft: true\ndescription: Says little.\n',
    });
    expect(codes(folder)).toEqual(['info persona/draft', 'info task/draft', 'warning task/draft-persona']);
  });
});

describe('the gate', () => {
  test('reports the findings of the audit for each draft', async () => {
    const folder = desk({
      'tasks/drill.task.yaml': extend('drill', 'L2'),
      'tasks/gone.task.yaml': extend('gone', 'L9'),
      'tasks/idle.task.yaml': extend('idle', 'L1').replaceAll('2026-04-01', '2026-03-09'),
      'personas/shy.persona.yaml': 'id: shy\ndraft: true\ndescription: Says little.\nbehaviours: { omits: true }\n',
      'personas/gruff.persona.yaml':
        'id: gruff\ndraft: true\ndescription: Gives up at once.\npatience: 1\nbehaviours: { omits: true, evades: { from: 1, to: 1 }, misunderstands: { from: 1, to: 1 } }\n',
    });
    const gated = await gate(folder, { signal });
    const shown = Object.fromEntries(
      gated.map(({ draft, passes, findings }) => [
        draft.placed.value.id,
        [passes, ...findings.map(({ code }) => code)],
      ]),
    );
    expect(shown).toMatchObject({
      drill: [true],
      gone: [false, 'task/missing-row', 'task/gold-fails'],
      idle: [false, 'task/nothing-to-do'],
      shy: [true],
    });
  });

  test.each([
    ['takes', 'evaluate: [judge]\njudge: [The agent was polite.]\n', true, 'judge: this rollout has no judge'],
    [
      'refuses',
      'evaluate: [assertions]\nassertions: [{ in: agent, that: "days(db.loans.L3.due, now) > 0" }]\n',
      false,
      expect.stringContaining('cannot be evaluated'),
    ],
  ])('%s a task without a reward: %s', async (_, more, passes, undecided) => {
    const database = readFileSync(join(desk(), 'database.json'), 'utf8');
    const folder = desk({
      'database.json': database.replace('"loans": {', '"loans": { "L3": { "due": "2026-02-30" },'),
      'tasks/drill.task.yaml': extend('drill', 'L2', more),
    });
    expect(await gate(folder, { signal })).toMatchObject([{ findings: [], undecided, passes }]);
  });

  inFullSuite('lets a task wait for its persona only where that comes with it', async () => {
    const folder = desk({
      'tasks/drill.task.yaml': extend('drill', 'L2').replace('persona: plain', 'persona: shy'),
      'personas/shy.persona.yaml': 'id: shy\ndraft: true\ndescription: Says little.\nbehaviours: { omits: true }\n',
    });
    const passing = async (ids?: readonly string[]) =>
      (await gate(folder, { signal, ...(ids ? { ids } : {}) })).map(
        ({ draft, passes }) => `${draft.placed.value.id} ${passes}`,
      );
    expect(await passing()).toEqual(['shy true', 'drill true']);
    expect(await passing(['drill'])).toEqual(['drill false']);
  });

  inFullSuite('takes drafts that are not written yet, also into a folder that is not there', async () => {
    const folder = desk({ 'domain.yaml': 'name: desk\ntasks: cases\n' });
    const file = join(folder, 'cases/drill.task.yaml');
    const [gated] = await gate(folder, { signal, overlay: new Map([[file, extend('drill', 'L2')]]) });
    expect([gated?.draft.placed.file, gated?.passes]).toEqual([file, true]);
  });

  test('takes drafts that are not written yet', async () => {
    const folder = desk();
    const file = join(folder, 'tasks/drill.task.yaml');
    const [gated, ...more] = await gate(folder, { signal, overlay: new Map([[file, extend('drill', 'L2')]]) });
    expect([gated?.passes, gated?.draft.placed.file, more.length]).toEqual([true, file, 0]);
  });

  test('is closed if the domain itself has errors', async () => {
    const folder = desk({
      'rules.yaml': '- rule: nothing\n  check: oneCall\n',
      'tasks/drill.task.yaml': extend('drill', 'L2'),
    });
    await expect(gate(folder, { signal })).rejects.toThrow(/rules\.yaml:1:\d+ error rule\/unknown-rule/);
  });
});

describe('accepting a draft', () => {
  const accepted = (text: string) => {
    const folder = desk();
    mkdirSync(join(folder, 'tasks'), { recursive: true });
    const file = join(folder, 'tasks/drill.task.yaml');
    writeFileSync(file, text);
    for (const draft of draftsOf(loadDomain(folder).parts).toReversed()) acceptDraft(draft);
    expect(draftsOf(loadDomain(folder).parts)).toEqual([]);
    return readFileSync(file, 'utf8');
  };

  test.each([
    [
      'its line goes, and nothing else',
      `# words\n${extend('drill', 'L2', '# more\n')}`,
      (text: string) => text.replace('draft: true\n', ''),
    ],
    [
      'the request above it goes as well',
      `# Drafted from a.traj.jsonl: read it, correct it, and accept it.\n# Review: the goal.\n${extend('drill', 'L2')}`,
      (text: string) => text.replace('draft: true\n', '').replace(': read it, correct it, and accept it', ''),
    ],
    [
      'with a comment behind it',
      extend('drill', 'L2').replace('draft: true', 'draft: true # by hand'),
      (text: string) => text.replace('draft: true # by hand\n', ''),
    ],
    [
      'in braces',
      `{ id: drill, draft: true, persona: plain, user: { goal: You want your loan extended. } }\n`,
      (text: string) => text.replace('true', 'false'),
    ],
    [
      'first in a list',
      `- draft: true\n  id: drill\n  persona: plain\n  user: { goal: A. }\n`,
      (text: string) => text.replace('true', 'false'),
    ],
    [
      'two of a file',
      `- id: one\n  draft: true\n  persona: plain\n  user: { goal: A. }\n- id: two\n  draft: true\n  persona: plain\n  user: { goal: B. }\n`,
      (text: string) => text.replaceAll('  draft: true\n', ''),
    ],
    [
      'with returns',
      extend('drill', 'L2').replaceAll('\n', '\r\n'),
      (text: string) => text.replace('draft: true\r\n', ''),
    ],
  ])('%s', (_, text, expected) => {
    expect(accepted(text)).toBe(expected(text));
  });
});
