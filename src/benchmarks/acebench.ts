import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { taskIdFor, type WrittenDomain } from '../authoring/writtenDomain.ts';
import {
  type AcebenchAbout,
  type AcebenchAnswer,
  type AcebenchEntry,
  acebenchAnswerSchema,
  acebenchEntrySchema,
  benchmark,
  closing,
  notCarriedIn,
  obstacleOf,
  taskFrom,
} from './acebenchEntry.ts';
import { commitOf } from './checkout.ts';
import { importEach, type Made } from './importedDomains.ts';
import { absentParts, chosenParts, type ImportOptions, type ImportReport, unimportable } from './importReport.ts';
import { NotCarriedList } from './notCarriedList.ts';
import { askAdapter, copyFolder, entriesIn, interpreterFor, namesIn } from './userCopy.ts';

const howToGet = 'Get one with "git clone https://github.com/chenchen0103/ACEBench" (then --from its folder)';

/** Kind and language of the agent entries, each a domain. */
const parts = {
  multi_turn_en: { kind: 'multi_turn', language: 'en' },
  multi_turn_zh: { kind: 'multi_turn', language: 'zh' },
  multi_step_en: { kind: 'multi_step', language: 'en' },
  multi_step_zh: { kind: 'multi_step', language: 'zh' },
} as const;
type PartName = keyof typeof parts;
type Part = (typeof parts)[PartName];

/** ACEBench counts every message after the first, and looks at the end state whatever ended the conversation. */
const messageCap = 40;

/** A user's checkout. */
type Copy = { readonly folder: string; readonly python: string | undefined };

/**
 * Writes a domain for each kind and language of ACEBench's agent entries. Entries go from the user's checkout into the
 * user's folder; scenario classes and prompts stay where they are. Throws a `Fault` that says what was found and what
 * was expected.
 */
export async function importAcebench(options: ImportOptions): Promise<ImportReport> {
  if (options.split !== undefined)
    throw unimportable('split', 'ACEBench has no splits; choose parts with --domains, and leave --split out');
  const copy = copyAt(options);
  return importEach(
    { benchmark, from: copy.folder, version: versionIn(copy) },
    partsOf(copy, options.domains),
    options,
    (name) => importPart(copy, name, options),
    absentParts(Object.keys(parts), partsOf(copy, undefined), options.domains),
  );
}

function copyAt({ from, python }: ImportOptions): Copy {
  const folder = copyFolder(from, { module: 'model_inference', howToGet }, python);
  const isThere = ['data_all', 'model_inference'].every((name) => existsSync(join(folder, name)));
  if (!isThere)
    throw unimportable(
      'layout',
      `${folder} is not a checkout of ACEBench: expected data_all/ and model_inference/; found ${namesIn(folder)}. ${howToGet}`,
    );
  return { folder, python: interpreterFor(folder, { from, python }) };
}

const dataOf = ({ kind, language }: Part) => `data_all/data_${language}/data_agent_${kind}.json`;
const answersOf = ({ kind, language }: Part) => `data_all/data_${language}/possible_answer/data_agent_${kind}.json`;

function partsOf({ folder }: Copy, asked: readonly string[] | undefined): readonly PartName[] {
  const names = Object.keys(parts) as readonly PartName[];
  const there = names.filter((name) => existsSync(join(folder, dataOf(parts[name]))));
  if (there.length === 0)
    throw unimportable(
      'layout',
      `expected ${Object.values(parts).map(dataOf).join(', ')} in ${folder}; none is there. This version is laid out otherwise`,
    );
  return chosenParts(there, asked, folder);
}

async function importPart(copy: Copy, name: PartName, { out, log, signal }: ImportOptions): Promise<Made> {
  const part = parts[name];
  const { kind, language } = part;
  const notCarried = new NotCarriedList(name);
  const entries = entriesIn(join(copy.folder, dataOf(part)), acebenchEntrySchema, notCarried);
  const read = entriesIn(join(copy.folder, answersOf(part)), acebenchAnswerSchema, notCarried);
  const answers = new Map(read.map((answer) => [answer.id, answer]));
  const settings = { checkout: copy.folder, kind, language, data: dataOf(part), answers: answersOf(part) };
  const about = await askAdapter<AcebenchAbout>(
    { name: benchmark, settings },
    { label: `ACEBench ${name}`, package: join(copy.folder, 'model_inference'), out, python: copy.python, log, signal },
  );
  notCarried.ofDomain(
    'what ACEBench tells the agent of writing calls as text: calls are tool calls here, and the lines that say otherwise are left out of its prompt',
  );
  const tongue = { en: 'English', zh: 'Chinese' }[language];
  const domain: WrittenDomain = {
    benchmark,
    head: {
      name: `acebench-${name}`,
      description: `The ${tongue} ${kind} entries of ACEBench (${versionIn(copy)}). Their functions run from ${copy.folder}.`,
      turnCap: 1000,
      toolErrorCap: 1000,
      guard: false,
      stopWords: [],
      messageCap,
      closing,
      // ACEBench passes a response that it cannot read to the user, where there is one.
      unreadableCalls: kind === 'multi_turn' ? 'endTurn' : 'failAll',
      callSyntax: 'python',
    },
    python: copy.python,
    settings,
    policy: '',
    database: {},
    persona: { id: 'user', description: 'Wants what the entry says.' },
    tasks: writtenTasks(entries, answers, about, notCarried),
  };
  return { domain, notCarried };
}

function writtenTasks(
  entries: readonly AcebenchEntry[],
  answers: ReadonlyMap<string, AcebenchAnswer>,
  about: AcebenchAbout,
  notCarried: NotCarriedList,
): readonly Record<string, unknown>[] {
  const taken = new Set<string>();
  return entries.flatMap((entry) => {
    const answer = answers.get(entry.id);
    const what = obstacleOf(entry, answer, about);
    if (what !== null || !answer) {
      notCarried.task(entry.id, what ?? '');
      return [];
    }
    notCarried.ofTask(notCarriedIn(entry, about));
    return [taskFrom(entry, answer, taskIdFor(entry.id, taken), about)];
  });
}

function versionIn({ folder }: Copy): string {
  const commit = commitOf(folder);
  return commit === null ? 'ACEBench of unknown version' : `ACEBench ${commit.slice(0, 7)}`;
}
