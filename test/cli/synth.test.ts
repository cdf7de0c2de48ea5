import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import type { Selected } from '../../src/synthesis/settle.ts';
import { readGrades, readSelection } from '../../src/synthesis/synthesisFolder.ts';
import { modelServer } from '../support/modelServer.ts';
import type { ModelRequest } from '../support/scriptedModel.ts';
import { inFullSuite } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const scratch = temporaryFolder('rehearsal-synth');
const domains = ['domains/order-desk', 'domains/parcel-desk'];
const first = join(scratch, 'first');
const synth = (...args: readonly string[]) => rehearsal('synth', ...args);
const countBy = (rows: readonly Selected[], of: (row: Selected) => string) =>
  Object.fromEntries([...Map.groupBy(rows, of)].map(([name, group]) => [name, group.length]));

const small = join(scratch, 'small');

beforeAll(async () => {
  await synth(...domains, '--count', '24', '--out', first);
  await synth('domains/order-desk', '--count', '4', '--out', small);
});

describe('the gold seat over two domains', () => {
  test('brings successes and near-misses, evenly, none of the test tasks', () => {
    const accepted = readSelection(first).filter((row) => row.accepted);
    expect(countBy(accepted, ({ outcome, domain }) => `${outcome} ${domain}`)).toEqual({
      'success order-desk': 9,
      'success parcel-desk': 9,
      'nearMiss order-desk': 3,
      'nearMiss parcel-desk': 3,
    });
    for (const { outcome, miss, withheld } of accepted)
      expect([outcome, miss !== null, withheld.length > 0 || miss?.startsWith('one check') !== false]).toEqual([
        outcome,
        outcome === 'nearMiss',
        true,
      ]);
    for (const { recording } of accepted) {
      const [started = ''] = readFileSync(join(first, recording), 'utf8').split('\n');
      expect(JSON.parse(started).event.task.split).toBe('train');
    }
    expect(readFileSync(join(first, 'balance.txt'), 'utf8')).toContain('24 accepted of 24 chosen');
  });

  test('resumes: more rollouts keep the existing ones, the same number plays nothing', async () => {
    const recordings = () => readdirSync(first, { recursive: true, encoding: 'utf8' }).sort().join('\n');
    const [before, files] = [readFileSync(join(first, 'selection.jsonl'), 'utf8'), recordings()];
    rmSync(join(first, 'selection.jsonl'));
    expect((await synth(...domains, '--count', '24', '--out', first)).code).toBe(0);
    expect(readFileSync(join(first, 'selection.jsonl'), 'utf8')).toBe(before);
    expect(recordings()).toBe(files);
  });

  test('that is cancelled keeps its rollouts, says how to resume, and then repeats none', async () => {
    const folder = join(scratch, 'cancelled');
    const cancel = new AbortController();
    let err = '';
    const io = {
      ...{
        out: () => undefined,
        terminal: false,
        interactive: false,
        cwd: process.cwd(),
        environment: {},
        signal: cancel.signal,
      },
      readLine: () => Promise.reject(new Error('no person is at this terminal')),
      err: (text: string) => {
        err += text;
        cancel.abort();
      },
    };
    const args = [...domains, '--count', '8', '--concurrency', '2', '--out', folder];
    expect(await main(['synth', ...args], io)).toBe(2);
    expect(err).toMatch(/cancelled: \d+ of 8 can be chosen so far\. Resume with --out .*cancelled/);
    const ledgers = () =>
      readdirSync(join(folder, 'runs')).map((run) => readFileSync(join(folder, 'runs', run, 'ledger.jsonl'), 'utf8'));
    const [before = ''] = ledgers();
    expect(before).not.toBe('');
    expect((await synth(...args)).code).toBe(0);
    expect(ledgers()[0]?.startsWith(before)).toBe(true);
    const receipts = ledgers().flatMap((ledger) =>
      [...ledger.matchAll(/"rollout":"([^"]+)"/g)].map(([, name]) => name),
    );
    expect(readSelection(folder).length).toBe(receipts.length);
  });

  test('is exported with its tools, and with what is not to be learned', async () => {
    const out = join(scratch, 'chat.jsonl');
    expect(await synth('export', first, '--out', out)).toMatchObject({ code: 0, out: `wrote 24 rollouts to ${out}\n` });
    const lines = readFileSync(out, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const { messages, tools, outcome, dialect, recording } of lines) {
      expect([messages[0].role, tools.length > 3, ['auto', 'template', 'compact'].includes(dialect)]).toEqual([
        'system',
        true,
        true,
      ]);
      const row = readSelection(first).find((each) => each.recording === recording);
      const weights = messages.flatMap(({ role, weight }: { role: string; weight?: number }) =>
        role === 'assistant' ? [weight] : weight === undefined ? [] : [`${role} has a weight`],
      );
      expect(weights.filter((weight: number) => weight === 0).length).toBe(row?.withheld.length);
      expect(weights.length - (row?.withheld.length ?? 0)).toBeGreaterThan(0);
      if (outcome === 'success') expect(weights).not.toContain(0);
    }
  });
});

/** A grade for the rules that the request asks about. */
function gradeFor({ messages }: ModelRequest, part: object = {}): string {
  const rules = [...(messages[0]?.content ?? '').matchAll(/^- ([\w-]+): /gm)].map(([, rule]) => rule);
  const step = Number(/^\[(\d+)\] agent/m.exec(messages[1]?.content ?? '')?.[1]);
  const verdicts = rules.map((rule) => ({ rule, verdict: 'held', evidence: [step], reason: 'It was kept.' }));
  return JSON.stringify({ rules: verdicts, keep: true, evidence: [step], reason: 'All is well.', ...part });
}

async function graded(answer: (request: ModelRequest, nth: number) => string) {
  const folder = mkdtempSync(join(scratch, 'graded-'));
  cpSync(small, folder, { recursive: true });
  const { url, requests } = await modelServer(answer);
  const run = () => synth('grade', folder, '--grader', `openai:grader@${url}`, '--concurrency', '1', '--json');
  return { folder, requests, run, ...(await run()) };
}

describe('the grader', () => {
  test('gets the rules and the numbered steps, and rollouts that it rejects are left out', async () => {
    const refuse = { keep: false, reason: 'The agent guessed.' };
    const { code, out, folder, requests, run } = await graded((request, nth) =>
      gradeFor(request, nth === 1 ? refuse : {}),
    );
    expect([code, JSON.parse(out)]).toMatchObject([0, { graded: 4, kept: 3, errors: 0, balance: { accepted: 3 } }]);
    const [system, user] = requests[0]?.messages ?? [];
    expect(system?.content).toContain('- confirm-before-write: Before any call that changes something');
    expect(user?.content).toMatch(
      /^The machine checks call this rollout a (?:success|near-miss)[\s\S]*\n\[\d+\] customer: /,
    );
    const left = readSelection(folder).filter(({ why }) => why === 'the grader: The agent guessed.');
    expect(left).toMatchObject([{ chosen: true, accepted: false }]);
    await run();
    expect(requests.length, 'what has a grade is not graded again').toBe(4);
  });

  test.each([
    ['words', () => 'It was a fine conversation.'],
    ['a rule that is not there', (request: ModelRequest) => gradeFor(request, { rules: [{ rule: 'be-nice' }] })],
    ['no verdict for a rule', (request: ModelRequest) => gradeFor(request, { rules: [] })],
    ['a step that is not there', (request: ModelRequest) => gradeFor(request, { evidence: [9999] })],
    ['a yes in place of true', (request: ModelRequest) => gradeFor(request, { keep: 'yes' })],
  ])('that answers with %s leaves an error and no verdict, and is asked again the next time', async (_, answer) => {
    const { code, out, folder, requests, run } = await graded(answer);
    expect([code, JSON.parse(out)]).toMatchObject([1, { graded: 0, errors: 4, balance: { accepted: 4 } }]);
    for (const line of readGrades(folder).values()) expect(line).toMatchObject({ error: { code: 'synth/grade' } });
    const asked = requests.length;
    await run();
    expect(requests.length).toBe(2 * asked);
  });
});

inFullSuite('an unreachable grader stops the grading without an error for each rollout', async () => {
  const folder = mkdtempSync(join(scratch, 'unreachable-'));
  cpSync(small, folder, { recursive: true });
  const { code, err } = await synth('grade', folder, '--grader', 'openai:m@http://127.0.0.1:9/v1');
  expect([code, err]).toEqual([2, expect.stringContaining("http://127.0.0.1:9/v1 can't be reached")]);
  const lines = err.trim().split('\n');
  expect(lines).toEqual([...new Set(lines)]);
  expect(lines.at(-1)).toMatch(/^rehearsal synth: /);
  expect([...readGrades(folder).values()]).toEqual([]);
});

inFullSuite('a teacher brings what it brings: one that only talks gives nothing to learn from', async () => {
  const { url } = await modelServer(() => 'How can I help you?');
  const folder = join(scratch, 'taught');
  const options = ['--teacher', `openai:teacher@${url}`, '--count', '2', '--turn-cap', '2', '--out', folder];
  const { code, err } = await synth('domains/order-desk', ...options);
  expect([code, err]).toEqual([1, expect.stringContaining('0 of 2 could be chosen')]);
  expect(countBy(readSelection(folder), ({ accepted }) => String(accepted))).toEqual({
    false: readSelection(folder).length,
  });
});

test.each<[readonly string[], RegExp]>([
  [[], /name the folders of one domain or more/],
  [['domains/order-desk', 'domains/order-desk'], /two of the domains are named order-desk/],
  [['domains/order-desk', '--count', '0'], /--count is a whole number above 0, not "0"/],
  [['domains/order-desk', '--near-misses', '2'], /--near-misses is a share from 0 to 1, not "2"/],
  [['domains/order-desk', '--under', 'unknown*'], /none of the domains has a persona unknown\*/],
  [['domains/order-desk', '--teacher', 'human'], /--teacher is gold, openai:MODEL.* not "human"/],
  [['domains/order-desk', '--out', first], /holds another synthesis: of .*parcel-desk, taught by gold/],
  [['grade', scratch, '--grader', 'openai:m'], /there is no synthesis here: .*synth\.json is missing/],
  [['grade', first], /name the model that grades: --grader/],
  [['grade', first, '--grader', 'gold'], /--grader is a model, openai:MODEL.* not "gold"/],
  [['export', first], /name the file to write: --out/],
  [
    ['export', first, '--out', 'x', '--format', 'csv'],
    /--format is one of rehearsal, openai, trl, trl-text, not "csv"/,
  ],
  [['export', first, 'more', '--out', 'x'], /unexpected argument "more"/],
  [['preview'], /name a recording/],
  [['preview', 'nowhere.traj.jsonl'], /there is no such recording/],
  [
    ['preview', join(first, 'synth.json'), '--dialect', 'latin'],
    /--dialect is auto or template or compact, not "latin"/,
  ],
  [['preview', join(first, 'synth.json'), '--model', './no/where'], /--model .\/no\/where: there is no such folder/],
])('rehearsal synth %j says what is wrong', async (args, message) => {
  const { code, err } = await synth(...args);
  expect([code, err]).toEqual([2, expect.stringMatching(message)]);
});

test('a selection that was edited by hand names the invalid line', async () => {
  const folder = join(scratch, 'broken');
  cpSync(small, folder, { recursive: true });
  appendFileSync(join(folder, 'selection.jsonl'), '{"recording": 1}\n');
  const { code, err } = await synth('export', folder, '--out', join(scratch, 'none.jsonl'));
  expect([code, err]).toEqual([2, expect.stringMatching(/selection\.jsonl:\d+: is not a line of a selection/)]);
  writeFileSync(join(folder, 'synth.json'), '{}');
  expect((await synth('export', folder)).err).toMatch(/synth\.json does not describe a synthesis \(format/);
});
