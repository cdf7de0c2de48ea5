import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { gatedText } from '../../src/cli/drafts/gatedText.ts';
import { modelServer } from '../support/modelServer.ts';
import { inFullSuite, sampled } from '../support/suite.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { rehearsal } from '../support/terminal.ts';

const scratch = temporaryFolder('rehearsal-draft');
const desk = (name: string, sample = 'parcel-desk'): string => {
  const folder = join(scratch, name);
  cpSync(join('domains', sample), folder, { recursive: true });
  return folder;
};
const draft = (...args: readonly string[]) => rehearsal('draft', ...args);

type Written = { readonly code: number; readonly file: string; readonly ids: readonly string[]; readonly text: string };

async function written(...args: readonly string[]): Promise<Written> {
  const { code, out } = await draft(...args, '--json');
  return { code, ...(JSON.parse(out) as Omit<Written, 'code'>) };
}

type Parcel = {
  readonly id: string;
  readonly user: { readonly opening: string; readonly known: { readonly parcel: string } };
};

test('a task that only waits for its persona is called sound, as where both are listed', () => {
  const at = { file: 'a.task.yaml', line: 1, column: 1, endLine: 1, endColumn: 2 };
  const finding = { ...at, code: 'task/draft-persona', severity: 'error', message: 'A draft.', hint: '' } as const;
  const row = { kind: 'task', id: 'c1', file: 'a.task.yaml', undecided: null, passes: false } as const;
  expect(gatedText([{ ...row, findings: [finding] }], '.')).toMatch(/^sound {7}task c1\n.*task\/draft-persona/);
  expect(gatedText([{ ...row, findings: [{ ...finding, code: 'task/gold-fails' }] }], '.')).toMatch(/^needs work/);
});

describe('variants without a model', () => {
  inFullSuite('differ by their seed, are the same for one, and are printed without a file', async () => {
    const folder = desk('printed');
    const before = readdirSync(join(folder, 'tasks'));
    const [first, again] = [
      await written('variants', folder, 'missing-P60', '--count', '2', '--print'),
      await written('variants', folder, 'missing-P60', '--count', '2', '--print'),
    ];
    expect([first.code, first.ids.length]).toEqual([0, 2]);
    expect(readdirSync(join(folder, 'tasks'))).toEqual(before);
    expect(again.text).toBe(first.text);
    const other = await written('variants', folder, 'missing-P60', '--count', '2', '--seed', '2', '--print');
    expect(other.text).not.toBe(first.text);
  });

  test('are about other rows, differ and pass the audit', async () => {
    const folder = desk('drawn');
    const other = await written('variants', folder, 'missing-P60', '--count', '2', '--seed', '2');
    expect([other.code, other.ids.length]).toEqual([0, 2]);
    expect(other.text).toMatch(/^# Variants of missing-P60, drafted without a model: .* drawn by seed 2\./);
    expect(readFileSync(other.file, 'utf8')).toBe(other.text);
    const tasks = parse(other.text) as Parcel[];
    const parcels = tasks.map(({ user }) => user.known.parcel);
    expect(new Set([...parcels, 'P60']).size).toBe(3);
    for (const { user } of tasks) expect(user.opening).toContain(user.known.parcel);
  });

  inFullSuite('share no row with the other split', async () => {
    const folder = desk('split');
    const { text } = await written('variants', folder, 'reschedule-P18', '--count', '12', '--print');
    const tested = readFileSync(join(folder, 'tasks/test.task.yaml'), 'utf8');
    const parcels = (parse(text) as Parcel[]).map(({ user }) => user.known.parcel);
    expect(parcels.length).toBe(12);
    expect(parcels.filter((parcel) => tested.includes(parcel))).toEqual([]);
  });

  inFullSuite('follow what a row names: the customer goes with the order, the house with the line', async () => {
    const orders = await written('variants', desk('orders', 'order-desk'), 'mistaken-order', '--count', '2', '--print');
    const { orders: all, customers } = JSON.parse(readFileSync('domains/order-desk/database.json', 'utf8'));
    for (const { user } of parse(orders.text) as {
      user: { goal: string; opening: string; known: Record<string, string> };
    }[]) {
      const customer = customers[all[user.known['order_id'] ?? ''].customer];
      expect(user.known['email']).toBe(customer.email);
      expect(user.goal).toContain(customer.name);
    }
    const lines = await written('variants', desk('lines', 'help-line'), 'swap-L2008', '--count', '1', '--print');
    expect(lines.code).toBe(0);
    const swap = parse(lines.text) as { user: { known: { name: string } }; state: { path: string[]; value: string }[] };
    const { customers: people } = JSON.parse(readFileSync('domains/help-line/database.json', 'utf8')) as {
      customers: Record<string, { name: string; line: string }>;
    };
    const line = swap.state.find(({ path }) => path.join() === 'line')?.value;
    expect(Object.values(people).find(({ name }) => name === swap.user.known.name)?.line).toBe(line);
  });

  inFullSuite('are accepted and then counted', async () => {
    const folder = desk('counted');
    const { ids } = await written('variants', folder, 'both-P83', '--count', '2');
    expect(await draft('list', folder)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^sound {7}task .*\nsound {7}task /),
    });
    expect((await draft('accept', folder, '--all')).code).toBe(0);
    expect(await draft('list', folder)).toMatchObject({ code: 0, out: 'no drafts\n' });
    const run = await rehearsal(
      'eval',
      folder,
      '--tasks',
      ids.join(','),
      '--out',
      join(scratch, 'counted-run'),
      '--json',
    );
    expect(JSON.parse(run.out).results).toMatchObject([{ reward: 1 }, { reward: 1 }]);
  });

  test('there are none of a task that names no row', async () => {
    const folder = desk('rowless');
    writeFileSync(
      join(folder, 'tasks/idle.task.yaml'),
      'id: idle\npersona: brief\nuser: { goal: You want to say hello. }\ncommunicate: [hello]\n',
    );
    expect(await draft('variants', folder, 'idle')).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /names no row of the database that another row could replace\. Draft its variants with a model/,
      ),
    });
  });
});

const variant = (parcel: string, more: object = {}) => ({
  description: 'A parcel that was reported as delivered.',
  persona: 'brief',
  user: {
    goal: `You wait for parcel ${parcel}, and want it reported missing if it came.`,
    opening: `Where is ${parcel}?`,
    known: { parcel },
  },
  actions: [
    { tool: 'find_parcel', arguments: { parcel } },
    { tool: 'report', arguments: { parcel } },
  ],
  ...more,
});
const answer = (...variants: readonly object[]) =>
  `Here they are:\n\`\`\`json\n${JSON.stringify({ variants })}\n\`\`\``;

describe('variants with a model', () => {
  test('are kept if they are valid, and the model gets the problems of the others', async () => {
    const { url, requests } = await modelServer((_, nth) =>
      nth === 1 ? answer(variant('P49'), variant('P01')) : answer(variant('P43')),
    );
    const folder = desk('model');
    const made = await written('variants', folder, 'missing-P60', '--count', '2', '--model', `openai:m@${url}`);
    expect([made.code, made.ids.length, requests.length]).toEqual([0, 2, 2]);
    expect(made.text).toMatch(/^# Variants of missing-P60, drafted by m\./);
    expect(made.text).toContain('P49');
    expect(made.text).toContain('P43');
    const [asked, told] = requests.map(({ messages }) => messages.at(-1)?.content ?? '');
    expect(JSON.parse(asked ?? '')).toMatchObject({
      variants: 2,
      task: { id: 'missing-P60' },
      policy: expect.any(String),
    });
    expect(told).toMatch(/1 more are needed, .* are sound \((?!task\/).*P01 is on the way, not delivered[^.]*\)/);
  });

  inFullSuite('fewer than requested are kept, which is reported', async () => {
    const { url } = await modelServer(() => answer(variant('P49')));
    const made = await draft('variants', desk('fewer'), 'missing-P60', '--count', '3', '--model', `openai:m@${url}`);
    expect([made.code, made.err]).toEqual([1, expect.stringContaining('1 variant of 3 is sound')]);
    expect(made.out).toMatch(/wrote .*missing-P60-variants\.task\.yaml/);
  });

  test.each([
    [
      'no JSON',
      () => 'I am sorry.',
      /m gave no draft that can be used, after 3 tries: it contains no JSON object: "I am sorry\."/,
    ],
    ['other keys', () => '{"tasks": []}', /after 3 tries: variants: /],
    ['tasks that do not fit', () => answer({ persona: 'brief' }), /after 3 tries: 2 more are needed.*user/],
  ])('%s is one clear message, and nothing is written', async (_, said, message) => {
    const { url, requests } = await modelServer(said);
    const folder = desk(`broken-${message.source.length}`);
    const { code, err } = await draft('variants', folder, 'missing-P60', '--count', '2', '--model', `openai:m@${url}`);
    expect([code, err, requests.length]).toEqual([2, expect.stringMatching(message), 3]);
    expect(existsSync(join(folder, 'tasks/missing-P60-variants.task.yaml'))).toBe(false);
  });
});

describe('a persona', () => {
  inFullSuite('is drawn by seed, passes the audit, and is new each time', async () => {
    const folder = desk('people');
    const one = await written('persona', folder);
    const two = await written('persona', folder, '--seed', '2');
    expect([one.code, two.code]).toEqual([0, 0]);
    expect(one.text).toMatch(/^# A persona, drafted without a model, drawn by seed 1\./);
    expect(parse(one.text)).toMatchObject({ id: one.ids[0], draft: true, description: expect.stringMatching(/\.$/) });
    expect((await draft('accept', folder, one.ids[0] ?? '')).code).toBe(0);
    expect((await rehearsal('personas', folder)).out).toContain(`${one.ids[0]}: `);
    const run = await rehearsal(
      'eval',
      folder,
      '--tasks',
      'reschedule-P46',
      '--under',
      one.ids[0] ?? '',
      '--out',
      join(scratch, 'people-run'),
      '--json',
    );
    expect(run.code).toBe(0);
  });

  test('is drafted although the tasks name a persona that is missing and other files have errors', async () => {
    const folder = desk('missing');
    for (const name of ['train', 'test']) {
      const file = join(folder, `tasks/${name}.task.yaml`);
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, text.replace(/^( +persona|persona): .*$/gm, '$1: hurried'));
    }
    writeFileSync(join(folder, 'tasks/broken.task.yaml'), 'id: broken\nuser: 3\n');
    const made = await written('persona', folder);
    expect([made.code, readFileSync(made.file, 'utf8')]).toEqual([0, made.text]);
  });

  test('is not drafted where the policy has an error, and a dialog names the place in words', async () => {
    const folder = desk('no-policy');
    writeFileSync(join(folder, 'rules.yaml'), '- rule: nowhere\n');
    const { code, out } = await draft('persona', folder, '--json');
    const { inDialog } = JSON.parse(out).error;
    expect([code, inDialog]).toEqual([
      2,
      expect.stringMatching(/^check is missing.* \(no-policy\/rules\.yaml, line 1\)/),
    ]);
  });

  inFullSuite('is written by a model after words, and checked', async () => {
    const person = {
      id: 'carer',
      description: 'Calls for a neighbour.',
      style: 'chatty',
      patience: 5,
      behaviours: { omits: true },
    };
    const { url, requests } = await modelServer((_, nth) => (nth === 1 ? '{"id": "Carer!"}' : JSON.stringify(person)));
    const made = await written('persona', desk('carer'), '--model', `openai:m@${url}`, '--words', 'a carer');
    expect(made.code).toBe(0);
    expect(parse(made.text)).toEqual({ ...person, draft: true });
    expect(requests[0]?.messages.at(-1)?.content).toContain('"wanted": "a carer"');
    expect(requests[1]?.messages.at(-1)?.content).toMatch(/could not be used: id: a persona id is at most/);
  });

  inFullSuite('that no task has words for is not accepted, and the message says what it needs', async () => {
    const folder = desk('stubborn');
    rmSync(join(folder, 'tasks'), { recursive: true });
    mkdirSync(join(folder, 'tasks'));
    const persona = 'id: stubborn\ndraft: true\ndescription: Insists.\nbehaviours: { insists: true }\n';
    writeFileSync(join(folder, 'personas', 'stubborn.persona.yaml'), persona);
    const { code, out } = await draft('accept', folder, 'stubborn');
    expect([code, out]).toEqual([1, expect.stringContaining('no task of the domain has `insist:`')]);
    expect(readFileSync(join(folder, 'personas', 'stubborn.persona.yaml'), 'utf8')).toBe(persona);
  });

  inFullSuite('under which the gold seat fails does not pass', async () => {
    const folder = desk('gruff');
    const range = { from: 1, to: 1 };
    writeFileSync(
      join(folder, 'personas/gruff.persona.yaml'),
      JSON.stringify({
        id: 'gruff',
        draft: true,
        description: 'Gives up at once.',
        patience: 1,
        behaviours: { omits: true, evades: range, misunderstands: range },
      }),
    );
    const { code, out } = await draft('accept', folder, 'gruff');
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/needs work {2}persona gruff\n.*persona\/gold-fails The gold seat.*\nit stays a draft/),
    ]);
  });
});

describe('wrong input has one clear message', () => {
  const folder = desk('wrong');
  const wrong: readonly [string, string[], RegExp][] = [
    ['nothing to do', [], /say what to do: task, from-chats, variants, persona, list, accept/],
    ['something else', ['fly'], /say what to do: .*, not "fly"/],
    ['no domain', ['list'], /name the folder of a domain/],
    ['a folder that is not a domain', ['list', scratch], /there is no domain here/],
    ['no draft named', ['accept', folder], /name the drafts to accept, or give --all/],
    ['both', ['accept', folder, 'x', '--all'], /name the drafts to accept, or give --all/],
    ['a draft that is not there', ['accept', folder, 'x'], /there is no draft "x" in .*; it has none/],
    ['no task', ['variants', folder], /name a task; .* has reschedule-P46, /],
    ['a task that is not there', ['variants', folder, 'x'], /there is no task "x"; /],
    ['too many', ['variants', folder, 'both-P83', '--count', '1000'], /--count is at most 100, not "1000"/],
    ['no number', ['variants', folder, 'both-P83', '--count', 'x'], /--count is a whole number above 0, not "x"/],
    [
      'no model',
      ['variants', folder, 'both-P83', '--model', 'gold'],
      /--model is a model, openai:MODEL\[@BASE_URL\], not "gold"/,
    ],
    ['words without a model', ['persona', folder, '--words', 'kind'], /--words goes with --model/],
    [
      'an id that is taken',
      ['persona', folder, '--id', 'brief'],
      /--id: the domain already has a persona brief \(.*brief\.persona\.yaml:1\)\. Choose another id, or leave --id out/,
    ],
    ['an id that can be none', ['persona', folder, '--id', 'A b'], /--id is at most 50 lower case letters/],
  ];
  test.each(sampled(wrong, 2))('%s', async (_, args, message) => {
    const { code, out, err } = await draft(...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });

  inFullSuite('a model that is not there', async () => {
    const model = ['--model', 'openai:m@http://127.0.0.1:59997/v1'];
    const { code, out, err } = await draft('variants', folder, 'both-P83', ...model);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/can't be reached/);
  });

  inFullSuite('a draft can be run by its name, and evaluations leave it out', async () => {
    const { ids } = await written('variants', folder, 'both-P83', '--count', '1');
    const run = await rehearsal('run', folder, ids[0] ?? '', '--agent', 'gold', '--out', join(scratch, 'wrong-run'));
    expect([run.code, run.out]).toEqual([0, expect.stringContaining('reward 1')]);
    expect((await rehearsal('replay', join(scratch, 'wrong-run', `${ids[0]}.0.traj.jsonl`), '--quiet')).code).toBe(0);
    expect(await rehearsal('eval', folder, '--tasks', ids[0] ?? '')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/evaluations leave out drafts\. Accept it with: npx rehearsal draft accept/),
    });
  });
});
