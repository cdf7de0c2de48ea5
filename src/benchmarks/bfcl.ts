import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { taskIdFor, type WrittenDomain } from '../authoring/writtenDomain.ts';
import {
  answerSchema,
  type BfclAbout,
  type BfclEntry,
  benchmark,
  bfclEntrySchema,
  categories,
  notCarriedIn,
  obstacleOf,
  taskFrom,
} from './bfclEntry.ts';
import { importEach, type Made } from './importedDomains.ts';
import { absentParts, chosenParts, type ImportOptions, type ImportReport, unimportable } from './importReport.ts';
import { NotCarriedList } from './notCarriedList.ts';
import { askAdapter, copyFolder, entriesIn, interpreterFor, namesIn, versionOf } from './userCopy.ts';

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
  return importEach(
    { benchmark, from: copy.package, version: versionIn(copy) },
    categoriesOf(copy, options.domains),
    options,
    (name) => importCategory(copy, name, options),
    absentParts(categories, categoriesOf(copy, undefined), options.domains),
  );
}

/**
 * Returns the location of a copy's package: in a checkout, in a package's own folder, or next to installed packages.
 */
function copyAt({ from, python }: ImportOptions): Copy {
  const folder = copyFolder(from, { module: 'bfcl_eval', howToGet }, python);
  const places = [join(folder, 'berkeley-function-call-leaderboard', 'bfcl_eval'), join(folder, 'bfcl_eval'), folder];
  const found = places.find((each) => existsSync(join(each, 'eval_checker')) && existsSync(join(each, 'data')));
  if (!found)
    throw unimportable(
      'layout',
      `${folder} is not a copy of BFCL: expected berkeley-function-call-leaderboard/bfcl_eval of a checkout, or the folder of the package bfcl_eval with eval_checker/ and data/; found ${namesIn(folder)}. ${howToGet}`,
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
  return { package: found, python: interpreterFor(found, { from, python }), files };
}

function categoriesOf({ files, package: folder }: Copy, asked: readonly string[] | undefined): readonly Category[] {
  const there = categories.filter((name) => files[name] !== undefined);
  return chosenParts(there, asked, folder);
}

async function importCategory(copy: Copy, name: Category, { out, log, signal }: ImportOptions): Promise<Made> {
  const notCarried = new NotCarriedList(name);
  const file = join(copy.package, 'data', copy.files[name] ?? '');
  const entries = entriesIn(file, bfclEntrySchema, notCarried);
  const answers = `possible_answer/${copy.files[name]}`;
  entriesIn(join(copy.package, 'data', answers), answerSchema, notCarried);
  const classes = [...new Set(entries.flatMap(({ involved_classes: each }) => each))].sort();
  const settings = { package: copy.package, entries: copy.files[name] ?? '', answers, classes: classes.join(',') };
  const about = await askAdapter<BfclAbout>(
    { name: benchmark, settings },
    { label: `BFCL ${name}`, package: copy.package, out, python: copy.python, log, signal },
  );
  const domain: WrittenDomain = {
    benchmark,
    head: {
      name: `bfcl-${name}`,
      description: `The category multi_turn_${name} of BFCL (${versionIn(copy)}). Its functions run from ${copy.package}.`,
      // BFCL counts the steps of a turn alone, and its errors are results like others.
      turnCap: 1000,
      toolErrorCap: 1000,
      // BFCL looks whether the limit is passed after a step was made.
      callCap: about.stepLimit + 1,
      unreadableCalls: 'endTurn',
    },
    python: copy.python,
    settings,
    policy: '',
    database: {},
    persona: { id: 'user', description: 'Says what the entry says, turn by turn.' },
    tasks: writtenTasks(entries, name === 'long_context', about, notCarried),
  };
  return { domain, notCarried };
}

function writtenTasks(
  entries: readonly BfclEntry[],
  isLong: boolean,
  about: BfclAbout,
  notCarried: NotCarriedList,
): readonly Record<string, unknown>[] {
  const taken = new Set<string>();
  return entries.flatMap((entry) => {
    if (notCarried.hasTask(entry.id)) return [];
    const what = obstacleOf(entry, about);
    if (what !== null) {
      notCarried.task(entry.id, what);
      return [];
    }
    notCarried.ofTask(notCarriedIn(entry));
    return [taskFrom(entry, taskIdFor(entry.id, taken), isLong, about)];
  });
}

function versionIn({ package: folder }: Copy): string {
  return versionOf(folder, /^bfcl.eval/, [join(folder, '..', 'pyproject.toml')]);
}
