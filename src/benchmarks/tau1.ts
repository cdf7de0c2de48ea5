import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { customer } from '../authoring/writtenDomain.ts';
import { counted } from '../engine/core/text/counted.ts';
import { jsonObjectSchema } from '../engine/core/values/jsonObjectSchema.ts';
import { type Copy, type Entry, type Importer, writtenTasks } from './importer.ts';
import { noSplit, unimportable } from './importReport.ts';
import { notCarriedIn, obstacleOf, taskFrom, tau1TaskSchema } from './tau1Task.ts';
import { namesIn, problemsOf, textIn, versionOf } from './userCopy.ts';

const knownDomains = ['retail', 'airline'] as const;

/** The most turns of tau-bench's agent: `max_num_steps` of its agents, where each response is a step. */
const turnCap = 30;

/**
 * Splits of tau-bench that are imported if none is named. Its `dev` split must be named, so that it is not mixed with
 * others.
 */
const usualSplits = ['train', 'test'];

/** The adapter's data about a domain, apart from its tools. */
const aboutSchema = z.object({
  database: z.object({ agent: jsonObjectSchema }),
  policy: z.string(),
  /** Tasks by split, as the copy has them. */
  splits: z.record(z.string(), z.array(z.unknown())),
  /** Tools that end a conversation. */
  ends: z.array(z.string()),
});
type About = z.infer<typeof aboutSchema>;

/** Imports tau-bench. */
export const tau1: Importer<Copy, (typeof knownDomains)[number]> = {
  label: 'tau-bench',
  module: 'tau_bench',
  howToGet:
    'Get one with "git clone https://github.com/sierra-research/tau-bench" (then --from its folder): no package of it is published',
  layout: `a copy of tau-bench: expected tau_bench/envs with ${knownDomains.join(' and ')}`,
  parts: knownDomains,
  locate: (folder) => {
    const found = [join(folder, 'tau_bench'), folder].find((each) => existsSync(join(each, 'envs')));
    return found === undefined ? null : { folder: found, package: found };
  },
  versionOf: ({ folder }) => {
    const setup = join(dirname(folder), 'setup.py');
    const version = existsSync(setup) && /version\s*=\s*["']([^"']+)["']/.exec(textIn(setup))?.[1];
    return version ? `tau-bench ${version}` : versionOf(folder, /^tau.bench/, []);
  },
  partsIn: ({ folder }) => {
    const envs = join(folder, 'envs');
    const there = knownDomains.filter((name) => existsSync(join(envs, name, 'tools')));
    if (there.length > 0) return { names: there, place: envs };
    throw unimportable(
      'layout',
      `expected ${knownDomains.join(' and ')} in ${envs}, each with tools/ and data/; found ${namesIn(envs)}`,
    );
  },
  domainOf: async (copy, name, { version, split, notCarried, ask }) => {
    const settings = { package: copy.package, domain: name, wholeFloats: 'distinct' };
    const about = await ask(aboutSchema, settings);
    if (split !== undefined && about.splits[split] === undefined) {
      notCarried.ofDomain(noSplit(split, Object.keys(about.splits).sort()));
      return null;
    }
    const chosen = split === undefined ? usualSplits.filter((each) => about.splits[each]) : [split];
    for (const what of restOf(copy, name, about, chosen)) notCarried.ofDomain(what);
    const entries = chosen.flatMap((each) =>
      (about.splits[each] ?? []).map((raw, at) => entryOf(raw, each, at, about)),
    );
    return {
      head: {
        name: `tau1-${name}`,
        description: `The domain ${name} of tau-bench (${version}). Its tools run from ${copy.package}.`,
        turnCap,
        // tau-bench ends nothing because of errors, makes the first call of a message only, and hears the user's last word.
        toolErrorCap: 1000,
        callsPerResponse: 1,
        unreadableCalls: 'endRollout',
        userEnds: true,
        guard: false,
        stopWords: ['###STOP###'],
      },
      settings,
      policy: about.policy,
      database: about.database.agent,
      persona: customer,
      tasks: writtenTasks('tau1', entries, notCarried),
    };
  },
};

/** Returns what of a domain stays behind as a whole. */
function restOf(copy: Copy, domain: string, { splits }: About, chosen: readonly string[]): readonly string[] {
  const left = Object.keys(splits)
    .filter((each) => !chosen.includes(each))
    .sort();
  const hasRules = existsSync(join(copy.package, 'envs', domain, 'rules.py'));
  return [
    ...left.map(
      (each) => `split ${each} (${counted(splits[each]?.length ?? 0, 'task')}): --split ${each} makes a domain of it`,
    ),
    ...(hasRules ? ['rules.py: tau-bench shows its rules to no agent; the policy is the wiki'] : []),
  ];
}

function entryOf(raw: unknown, split: string, at: number, { ends }: About): Entry {
  const { data: task, error } = tau1TaskSchema.safeParse(raw);
  // What is not in the split `train` is never trained on.
  const half = split === 'train' ? 'train' : 'test';
  return {
    origin: `${split}/${at}`,
    named: `${split}-${at}`,
    read: task
      ? (obstacleOf(task) ?? { task: taskFrom(task, half, ends), notCarried: notCarriedIn(task) })
      : `it has a different layout: ${problemsOf(error)}`,
  };
}
