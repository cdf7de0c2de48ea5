import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  acebenchAboutSchema,
  acebenchAnswerSchema,
  acebenchEntrySchema,
  closing,
  notCarriedIn,
  obstacleOf,
  taskFrom,
} from './acebenchEntry.ts';
import { commitOf } from './checkout.ts';
import { type Copy, type Importer, writtenTasks } from './importer.ts';
import { unimportable } from './importReport.ts';
import { entriesIn } from './userCopy.ts';

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

const dataOf = ({ kind, language }: Part) => `data_all/data_${language}/data_agent_${kind}.json`;
const answersOf = ({ kind, language }: Part) => `data_all/data_${language}/possible_answer/data_agent_${kind}.json`;

/** Imports ACEBench's agent entries. Its scenario classes and prompts stay where they are. */
export const acebench: Importer<Copy, PartName> = {
  label: 'ACEBench',
  module: 'model_inference',
  howToGet: 'Get one with "git clone https://github.com/chenchen0103/ACEBench" (then --from its folder)',
  layout: 'a checkout of ACEBench: expected data_all/ and model_inference/',
  parts: Object.keys(parts) as readonly PartName[],
  withoutSplits: 'parts',
  locate: (folder) => {
    const isThere = ['data_all', 'model_inference'].every((name) => existsSync(join(folder, name)));
    return isThere ? { folder, package: join(folder, 'model_inference') } : null;
  },
  versionOf: ({ folder }) => {
    const commit = commitOf(folder);
    return commit === null ? 'ACEBench of unknown version' : `ACEBench ${commit.slice(0, 7)}`;
  },
  partsIn: ({ folder }) => {
    const names = acebench.parts.filter((name) => existsSync(join(folder, dataOf(parts[name]))));
    if (names.length > 0) return { names, place: folder };
    throw unimportable(
      'layout',
      `expected ${Object.values(parts).map(dataOf).join(', ')} in ${folder}; none is there. This version has a different layout`,
    );
  },
  domainOf: async ({ folder }, name, { version, notCarried, ask }) => {
    const part = parts[name];
    const { kind, language } = part;
    const entries = entriesIn(join(folder, dataOf(part)), acebenchEntrySchema, notCarried);
    const read = entriesIn(join(folder, answersOf(part)), acebenchAnswerSchema, notCarried);
    const answers = new Map(read.map((answer) => [answer.id, answer]));
    const settings = { checkout: folder, kind, language, data: dataOf(part), answers: answersOf(part) };
    const about = await ask(acebenchAboutSchema, settings);
    notCarried.ofDomain(
      'what ACEBench tells the agent of writing calls as text: calls are tool calls here, and the lines that say otherwise are left out of its prompt',
    );
    const tongue = { en: 'English', zh: 'Chinese' }[language];
    const tasks = entries.map((entry) => {
      const answer = answers.get(entry.id);
      const read = answer
        ? (obstacleOf(entry, about) ?? { task: taskFrom(entry, answer, about), notCarried: notCarriedIn(entry, about) })
        : 'it has no ground truth';
      return { origin: entry.id, read };
    });
    return {
      head: {
        name: `acebench-${name}`,
        description: `The ${tongue} ${kind} entries of ACEBench (${version}). Their functions run from ${folder}.`,
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
      settings,
      policy: '',
      database: {},
      persona: { id: 'user', description: 'Wants what the entry says.' },
      tasks: writtenTasks('acebench', tasks, notCarried),
    };
  },
};
