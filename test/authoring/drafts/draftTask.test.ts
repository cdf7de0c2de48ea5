import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { draftTask } from '../../../src/authoring/drafts/draftTask.ts';
import { draftText } from '../../../src/authoring/draftText.ts';
import { taskSchema } from '../../../src/engine/core/domain/task.ts';
import { contentHash } from '../../../src/engine/core/values/hash.ts';
import type { JsonObject } from '../../../src/engine/core/values/json.ts';
import { gate } from '../../../src/engine/shell/audit/draftGate.ts';
import { describeCodeTools } from '../../../src/engine/shell/describe.ts';
import { completeDomain, type LoadedDomain, loadDomain } from '../../../src/engine/shell/domain/loadDomain.ts';
import { openRecording, readRecording } from '../../../src/engine/shell/records/recording.ts';
import { sampleDomains } from '../../support/sampleDomains.ts';
import { inFullSuite, isFullSuite } from '../../support/suite.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { rehearsal } from '../../support/terminal.ts';

const scratch = temporaryFolder('rehearsal-draft-task');

async function described(folder: string): Promise<LoadedDomain> {
  const loaded = loadDomain(folder);
  return completeDomain(loaded, await describeCodeTools(loaded));
}

const written = (actions: readonly { readonly tool: string; readonly by?: string; readonly arguments?: object }[]) =>
  actions.map(({ tool, by = 'agent', arguments: args = {} }) => `${by} ${tool} ${JSON.stringify(args)}`);

describe.each(isFullSuite ? sampleDomains : ['library-desk'])('what the gold seat did in %s', (name) => {
  test('becomes gold actions that the audit passes, less reads that nothing in the recording needed', async () => {
    const folder = join('domains', name);
    const loaded = await described(folder);
    const out = join(scratch, name);
    const run = await rehearsal('eval', folder, '--agent', 'gold', '--out', out, '--json');
    const { results } = JSON.parse(run.out) as { results: readonly { task: string; reward: number | null }[] };
    expect(results.filter(({ reward }) => reward !== 1)).toEqual([]);
    const drafts: object[] = [];
    const same: object[] = [];
    const wrong: unknown[] = [];
    for (const original of loaded.tasks) {
      const { id, actions } = original;
      const { task, text, notes } = draftTask(loaded, readRecording(join(out, `${id}.0.traj.jsonl`)), `${id}-drafted`);
      expect([parse(text), notes]).toEqual([JSON.parse(JSON.stringify(task)), []]);
      const drafted = written(task['actions'] as never);
      const writes = actions.filter(({ tool }) => isWrite(loaded, tool));
      const isSubset = drafted.every((each) => written(actions).includes(each));
      if (!isSubset || written(writes).some((each) => !drafted.includes(each))) wrong.push({ id, drafted });
      (contentOf(task) === contentOf(original) ? same : drafts).push(task);
    }
    expect(wrong).toEqual([]);
    // A task with the same content as one of the domain, whose gold actions were just played, is a duplicate.
    const some = same.filter((_, at) => at % 8 === 0);
    const file = join(loaded.folder, 'tasks', 'drafted.task.yaml');
    const overlay = new Map([[file, draftText([...drafts, ...some], [])]]);
    const gated = await gate(loaded.folder, { overlay, signal: new AbortController().signal });
    const found = gated.flatMap(({ findings }) => findings.map(({ code, message }) => `${code} ${message}`));
    const duplicates = found.filter((each) => each.startsWith('task/duplicate-content'));
    expect([gated.length, duplicates.length]).toEqual([drafts.length + some.length, some.length]);
    expect(found.filter((each) => !duplicates.includes(each))).toEqual([]);
  });
});

/** Returns a hash of the part of a task that makes it a duplicate: without id, description, draft mark and split. */
function contentOf(task: object): string {
  const { id: _, description: __, draft: ___, split: ____, ...content } = taskSchema.parse(task);
  return contentHash(content as unknown as JsonObject);
}

function isWrite({ domain }: LoadedDomain, name: string): boolean {
  const tool = domain.tools.find((each) => each.name === name);
  return tool?.effect === 'write' || tool?.handsOff === true;
}

const drafted = (...args: readonly string[]) => rehearsal('draft', 'task', ...args);

describe('a recording of support-desk', () => {
  const desk = join(scratch, 'desk');
  const run = join(scratch, 'desk-run');
  const recording = join(run, 'raise-priority.0.traj.jsonl');

  beforeAll(async () => {
    await rehearsal('new', desk, '--template', 'support-desk');
    await rehearsal('eval', desk, '--out', run, '--json');
  });

  inFullSuite('becomes a file that is not a duplicate once its content differs, and then counts', async () => {
    const made = await drafted(recording, '--id', 'faster', '--json');
    const { file, text } = JSON.parse(made.out) as { file: string; text: string };
    expect([made.code, file]).toEqual([1, join(desk, 'tasks/faster.task.yaml')]);
    expect(made.out).toContain('task/duplicate-content');
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(await rehearsal('draft', 'accept', desk, 'faster')).toMatchObject({ code: 1 });
    writeFileSync(file, text.replaceAll('high', 'normal'));
    expect(await rehearsal('draft', 'accept', desk, 'faster')).toMatchObject({
      code: 0,
      out: 'accepted task faster\n',
    });
    const again = await rehearsal('eval', desk, '--tasks', 'faster', '--out', join(scratch, 'faster'), '--json');
    expect(JSON.parse(again.out)).toMatchObject({ results: [{ task: 'faster', reward: 1 }] });
  });

  inFullSuite('is only shown with --print', async () => {
    const shown = await drafted(recording, '--id', 'shown', '--print');
    expect(shown.out).toMatch(/^# Drafted from raise-priority\.0\.traj\.jsonl/);
    expect(existsSync(join(desk, 'tasks/shown.task.yaml'))).toBe(false);
  });

  inFullSuite('has its own file, also if a file of its name holds another task', async () => {
    const other = join(scratch, 'named-desk');
    cpSync(desk, other, { recursive: true });
    renameSync(join(other, 'tasks/second-thoughts.task.yaml'), join(other, 'tasks/spare.task.yaml'));
    const { out } = await drafted(recording, '--domain', other, '--id', 'spare', '--print', '--json');
    expect(JSON.parse(out)).toMatchObject({ ids: ['spare'], file: join(other, 'tasks/spare-2.task.yaml') });
  });

  inFullSuite('of a task that is gone has a user with the words that were said', async () => {
    const other = join(scratch, 'other-desk');
    cpSync(desk, other, { recursive: true });
    rmSync(join(other, 'tasks/second-thoughts.task.yaml'));
    const made = await drafted(join(run, 'second-thoughts.0.traj.jsonl'), '--domain', other, '--json');
    const { text } = JSON.parse(made.out) as { text: string };
    expect(text).toContain('# Review: the domain has no task second-thoughts');
    expect(parse(text)).toMatchObject({
      id: 'second-thoughts',
      user: {
        opening: expect.stringContaining('piotr.zielinski@example.com'),
        goal: expect.not.stringMatching(/"(?:[^"]*\b(?:yes|goodbye|go ahead|thank)[^"]*)"/i),
        known: { email: 'piotr.zielinski@example.com', ticket: 'T104', priority: 'urgent' },
      },
      actions: [
        { tool: 'find_customer' },
        { tool: 'get_ticket' },
        { tool: 'set_priority', arguments: { priority: 'urgent' } },
      ],
    });
    expect(made.code).toBe(0);
  });

  const wrong = join(scratch, 'wrong.traj.jsonl');
  test.each<[string, () => string[], RegExp]>([
    ['no recording', () => [], /name a recording, a file that ends in/],
    ['a file that is not a recording', () => [join(desk, 'policy.md')], /policy\.md: there is no such recording/],
    [
      'a file with something else in it',
      () => [wrong, '--domain', desk],
      /line 1 is not JSON: the recording was cut short here, or is not a recording/,
    ],
    [
      'a recording of another domain',
      () => [recording, '--domain', 'domains/parcel-desk'],
      /was recorded in the domain "desk", and .*parcel-desk is the domain "parcel-desk"\. Name its own domain with --domain/,
    ],
    ['a recording whose domain is unknown', () => [wrong], /which domain was it recorded in\?/],
    ['a folder without a domain', () => [recording, '--domain', scratch], /there is no domain here/],
    [
      'an id that is taken',
      () => [recording, '--id', 'Close-answered'],
      /--id: the domain already has a task close-answered \(.*\.task\.yaml:\d+\)\. Choose another id, or leave --id out/,
    ],
    ['an id that can be none', () => [recording, '--id', 'a b'], /--id is at most 160 letters.*, not "a b"/],
    ['an id that begins with a dash', () => [recording, '--id=-x'], /beginning with a letter or digit, not "-x"/],
    ['more than one', () => [recording, recording], /unexpected argument/],
  ])('%s has one clear message', async (_, args, message) => {
    writeFileSync(wrong, 'not json\n');
    const { code, out, err } = await drafted(...args());
    expect([code, out]).toEqual([2, '']);
    expect(err.split('\n')[0]).toMatch(message);
  });

  test('in which nothing was done has nothing that could count', async () => {
    const { lines } = readRecording(recording);
    const file = join(scratch, 'idle.traj.jsonl');
    const idle = openRecording(file);
    idle.append(...lines.slice(0, 3).map(({ n, event, state }) => ({ n, event, state })));
    idle.close();
    const { code, err } = await drafted(file, '--domain', desk);
    expect([code, err]).toEqual([2, expect.stringMatching(/nothing can count in it: no call changed anything/)]);
  });
});
