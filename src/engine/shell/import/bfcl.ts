import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type * as z from 'zod';
import {
  answerSchema,
  type BfclAbout,
  type BfclEntry,
  bfclEntrySchema,
  categories,
  environmentName,
  leftOut,
  obstacleOf,
  taskFrom,
} from './bfclEntry.ts';
import {
  type ImportedDomain,
  type ImportOptions,
  type ImportReport,
  type NotCarried,
  unimportable,
} from './importReport.ts';
import { askAdapter, copyFolder, interpreterBeside, jsonLinesIn, namesIn, problemsOf, versionOf } from './userCopy.ts';
import { taskIdFor, writeDomain, yamlText } from './writtenDomain.ts';

const howToGet =
  'Get one with "pip install --no-deps bfcl-eval" and "pip install mpmath" (then --from bfcl-eval --python PYTHON), or with "git clone https://github.com/ShishirPatil/gorilla" (then --from its folder)';

type Category = (typeof categories)[number];

/** A user's copy of bfcl_eval, and its data files of the categories that it has. */
type Copy = {
  readonly package: string;
  readonly python: string | undefined;
  readonly files: Readonly<Partial<Record<Category, string>>>;
};

/**
 * Writes a domain for each multi-turn category of a copy of BFCL. Entries go from the user's copy into the user's folder;
 * the backend classes stay where they are. Throws a `Fault` that says what was found and what was expected.
 */
export async function importBfcl(options: ImportOptions): Promise<ImportReport> {
  if (options.split !== undefined)
    throw unimportable('split', 'BFCL has no splits; choose categories with --domains, and leave --split out');
  const copy = copyAt(options);
  const domains: ImportedDomain[] = [];
  const notCarried: NotCarried[] = [];
  for (const name of categoriesOf(copy, options.domains)) {
    const made = await importCategory(copy, name, options);
    domains.push(made.domain);
    notCarried.push(...made.notCarried);
  }
  return { benchmark: 'bfcl', from: copy.package, version: versionIn(copy), domains, notCarried };
}

/** Where the package of a copy lies: in a checkout, in a package's own folder, or beside installed packages. */
function copyAt({ from, python }: ImportOptions): Copy {
  const folder = copyFolder(from, { module: 'bfcl_eval', howToGet }, python);
  const places = [join(folder, 'berkeley-function-call-leaderboard', 'bfcl_eval'), join(folder, 'bfcl_eval'), folder];
  const found = places.find((each) => existsSync(join(each, 'eval_checker')) && existsSync(join(each, 'data')));
  if (!found)
    throw unimportable(
      'layout',
      `${folder} is no copy of BFCL: expected berkeley-function-call-leaderboard/bfcl_eval of a checkout, or the folder of the package bfcl_eval with eval_checker/ and data/; found ${namesIn(folder)}. ${howToGet}`,
    );
  const data = join(found, 'data');
  const names = readdirSync(data);
  const files = Object.fromEntries(
    categories.flatMap((category) => {
      const file = names.findLast((name) => new RegExp(`^BFCL_v\\d+_multi_turn_${category}\\.json$`).test(name));
      return file === undefined ? [] : [[category, file]];
    }),
  );
  if (Object.keys(files).length === 0)
    throw unimportable(
      'layout',
      `expected BFCL_v4_multi_turn_base.json and the like in ${data}; found ${namesIn(data)}. This version is laid out otherwise`,
    );
  return { package: found, python: python ?? interpreterBeside(found), files };
}

function categoriesOf({ files, package: folder }: Copy, asked: readonly string[] | undefined): readonly Category[] {
  const there = categories.filter((name) => files[name] !== undefined);
  const strangers = asked?.filter((name) => !there.some((each) => each === name)) ?? [];
  if (strangers.length > 0)
    throw unimportable('domain', `${folder} has no category ${strangers.join(', ')}; it has ${there.join(', ')}`);
  return asked ? there.filter((name) => asked.includes(name)) : there;
}

async function importCategory(
  copy: Copy,
  name: Category,
  { out, log }: ImportOptions,
): Promise<{ readonly domain: ImportedDomain; readonly notCarried: readonly NotCarried[] }> {
  const folder = resolve(out, name);
  if (existsSync(join(folder, 'domain.yaml')))
    throw unimportable('exists', `${folder} holds a domain already; choose another --out, or remove it first`);
  const file = join(copy.package, 'data', copy.files[name] ?? '');
  const notCarried: NotCarried[] = [];
  const reject = (task: string, what: string) => void notCarried.push({ domain: name, task, what });
  const entries = entriesIn(file, bfclEntrySchema, reject);
  const answers = `possible_answer/${copy.files[name]}`;
  entriesIn(join(copy.package, 'data', answers), answerSchema, reject);
  const classes = [...new Set(entries.flatMap(({ involved_classes: each }) => each))].sort();
  const settings = { package: copy.package, entries: copy.files[name] ?? '', answers, classes: classes.join(',') };
  const about = await askAdapter<BfclAbout>(
    { name: 'bfcl', settings },
    { label: `BFCL ${name}`, package: copy.package, out, python: copy.python, log },
  );
  const tasks = writtenTasks(entries, name, about, notCarried);
  writeDomain(folder, {
    'domain.yaml': yamlText(domainFile(name, copy, settings, about)),
    'policy.md': '',
    'database.json': '{}\n',
    'personas/user.persona.yaml': yamlText({ id: 'user', description: 'Says what the entry says, turn by turn.' }),
    'tasks/test.task.yaml': yamlText(tasks),
  });
  return { domain: { name, folder, tasks: tasks.length, train: 0, test: tasks.length }, notCarried };
}

/** The lines of a file that are laid out as expected; each other one is listed. */
function entriesIn<Entry>(
  file: string,
  schema: z.ZodType<Entry>,
  reject: (task: string, what: string) => void,
): readonly Entry[] {
  return jsonLinesIn(file).flatMap((raw) => {
    const parsed = schema.safeParse(raw);
    if (parsed.success) return [parsed.data];
    const named = (raw as { readonly id?: unknown } | null)?.id;
    reject(String(named), `it is laid out otherwise: ${problemsOf(parsed.error)}`);
    return [];
  });
}

function writtenTasks(
  entries: readonly BfclEntry[],
  domain: Category,
  about: BfclAbout,
  notCarried: NotCarried[],
): readonly Record<string, unknown>[] {
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  const rejected = new Set(notCarried.map(({ task }) => task));
  const written = entries.flatMap((entry) => {
    if (rejected.has(entry.id)) return [];
    const what = obstacleOf(entry, about);
    if (what !== null) {
      notCarried.push({ domain, task: entry.id, what });
      return [];
    }
    for (const each of leftOut(entry)) counts.set(each, (counts.get(each) ?? 0) + 1);
    return [taskFrom(entry, taskIdFor(entry.id, taken), domain === 'long_context', about)];
  });
  for (const [what, count] of counts) notCarried.push({ domain, what: `${what} (${count} tasks)` });
  return written;
}

function domainFile(
  name: Category,
  copy: Copy,
  settings: Readonly<Record<string, string>>,
  { stepLimit }: BfclAbout,
): Record<string, unknown> {
  return {
    name: `bfcl-${name}`,
    description: `The category multi_turn_${name} of BFCL (${versionIn(copy)}). Its functions run from ${copy.package}.`,
    // BFCL counts the steps of a turn alone, and its errors are results like others.
    turnCap: 1000,
    toolErrorCap: 1000,
    // BFCL looks whether the limit is passed after a step was made.
    callCap: stepLimit + 1,
    agent: 'scripted',
    user: 'scripted',
    environments: {
      [environmentName]: {
        adapter: 'bfcl',
        state: 'database',
        ...(copy.python === undefined ? {} : { python: copy.python }),
        settings,
      },
    },
  };
}

function versionIn({ package: folder }: Copy): string {
  return versionOf(folder, /^bfcl.eval/, [join(folder, '..', 'pyproject.toml')]);
}
