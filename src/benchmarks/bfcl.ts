import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  answerSchema,
  bfclAboutSchema,
  bfclEntrySchema,
  categories,
  notCarriedIn,
  obstacleOf,
  taskFrom,
} from './bfclEntry.ts';
import { type Copy, type Importer, writtenTasks } from './importer.ts';
import { unimportable } from './importReport.ts';
import { entriesIn, namesIn, versionOf } from './userCopy.ts';

type Category = (typeof categories)[number];

/** A user's copy of bfcl_eval, and its data files of the categories that it has. */
type BfclCopy = Copy & { readonly files: Readonly<Partial<Record<Category, string>>> };

/** Imports BFCL's multi-turn categories. Its backend classes stay where they are. */
export const bfcl: Importer<BfclCopy, Category> = {
  label: 'BFCL',
  module: 'bfcl_eval',
  howToGet:
    'Get one with "pip install --no-deps bfcl-eval" and "pip install mpmath" (then --from bfcl-eval --python PYTHON), or with "git clone https://github.com/ShishirPatil/gorilla" (then --from its folder)',
  layout:
    'a copy of BFCL: expected berkeley-function-call-leaderboard/bfcl_eval of a checkout, or the folder of the package bfcl_eval with eval_checker/ and data/',
  parts: categories,
  withoutSplits: 'categories',
  locate: (folder) => {
    const places = [join(folder, 'berkeley-function-call-leaderboard', 'bfcl_eval'), join(folder, 'bfcl_eval'), folder];
    const found = places.find((each) => existsSync(join(each, 'eval_checker')) && existsSync(join(each, 'data')));
    return found === undefined ? null : { folder: found, package: found, files: filesIn(join(found, 'data')) };
  },
  versionOf: ({ folder }) => versionOf(folder, /^bfcl.eval/, [join(folder, '..', 'pyproject.toml')]),
  partsIn: ({ folder, files }) => ({ names: categories.filter((name) => files[name] !== undefined), place: folder }),
  domainOf: async (copy, name, { version, notCarried, ask }) => {
    const file = copy.files[name] ?? '';
    const entries = entriesIn(join(copy.package, 'data', file), bfclEntrySchema, notCarried);
    const answers = `possible_answer/${file}`;
    entriesIn(join(copy.package, 'data', answers), answerSchema, notCarried);
    const classes = [...new Set(entries.flatMap(({ involved_classes: each }) => each))].sort();
    const settings = { package: copy.package, entries: file, answers, classes: classes.join(',') };
    const about = await ask(bfclAboutSchema, settings);
    const isLong = name === 'long_context';
    const tasks = entries.map((entry) => ({
      origin: entry.id,
      read: obstacleOf(entry, about) ?? { task: taskFrom(entry, isLong, about), notCarried: notCarriedIn(entry) },
    }));
    return {
      head: {
        name: `bfcl-${name}`,
        description: `The category multi_turn_${name} of BFCL (${version}). Its functions run from ${copy.package}.`,
        // BFCL counts the steps of a turn alone, and its errors are results like others.
        turnCap: 1000,
        toolErrorCap: 1000,
        // BFCL looks whether the limit is passed after a step was made.
        callCap: about.stepLimit + 1,
        unreadableCalls: 'endTurn',
      },
      settings,
      policy: '',
      database: {},
      persona: { id: 'user', description: 'Says what the entry says, turn by turn.' },
      tasks: writtenTasks('bfcl', tasks, notCarried),
    };
  },
};

/** Returns the data files of the categories that a copy has. */
function filesIn(data: string): BfclCopy['files'] {
  const names = readdirSync(data);
  const files = Object.fromEntries(
    categories.flatMap((category) => {
      const file = names.findLast((name) => new RegExp(`^BFCL_v\\d+_multi_turn_${category}\\.json$`).test(name));
      return file === undefined ? [] : [[category, file]];
    }),
  );
  if (Object.keys(files).length > 0) return files;
  throw unimportable(
    'layout',
    `expected BFCL_v4_multi_turn_base.json and the like in ${data}; found ${namesIn(data)}. This version has a different layout`,
  );
}
