import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { customer, type WrittenDomain } from '../authoring/writtenDomain.ts';
import { counted } from '../engine/core/text/counted.ts';
import type { JsonObject } from '../engine/core/values/json.ts';
import { importEach, type Made } from './importedDomains.ts';
import {
  absentParts,
  chosenParts,
  type ImportOptions,
  type ImportReport,
  noSplit,
  unimportable,
} from './importReport.ts';
import { NotCarriedList } from './notCarriedList.ts';
import { benchmark, notCarriedIn, obstacleOf, taskFrom, tau1TaskSchema } from './tau1Task.ts';
import { askAdapter, copyFolder, interpreterFor, namesIn, problemsOf, textIn, versionOf } from './userCopy.ts';

const howToGet =
  'Get one with "git clone https://github.com/sierra-research/tau-bench" (then --from its folder): no package of it is published';

const knownDomains = ['retail', 'airline'] as const;

/** The most turns of tau-bench's agent: `max_num_steps` of its agents, where each response is a step. */
const turnCap = 30;

/**
 * Splits of tau-bench that are imported if none is named. Its `dev` split must be named, so that it is not mixed with
 * others.
 */
const usualSplits = ['train', 'test'];

/** A user's copy of tau-bench. */
type Copy = { readonly package: string; readonly python: string | undefined };

/** The adapter's data about a domain, apart from its tools. */
type About = {
  readonly database: { readonly agent: JsonObject };
  readonly policy: string;
  /** Tasks by split, as the copy has them. */
  readonly splits: Readonly<Record<string, readonly unknown[]>>;
  /** Tools that end a conversation. */
  readonly ends: readonly string[];
};

/**
 * Writes a domain for retail and for airline of a copy of tau-bench. Texts and data go from the user's copy into the
 * user's folder; the tools stay where they are. Throws a `Fault` that says what was found and what was expected.
 */
export async function importTau1(options: ImportOptions): Promise<ImportReport> {
  const copy = copyAt(options);
  const there = domainsOf(copy, undefined);
  return importEach(
    { benchmark, from: copy.package, version: versionIn(copy) },
    domainsOf(copy, options.domains),
    options,
    (name) => importDomain(copy, name, options),
    absentParts(knownDomains, there, options.domains),
  );
}

/** Returns the location of a copy's package: in a checkout, or in the package's own folder. */
function copyAt({ from, python }: ImportOptions): Copy {
  const folder = copyFolder(from, { module: 'tau_bench', howToGet }, python);
  const found = [join(folder, 'tau_bench'), folder].find((each) => existsSync(join(each, 'envs')));
  if (!found)
    throw unimportable(
      'layout',
      `${folder} is not a copy of tau-bench: expected tau_bench/envs with ${knownDomains.join(' and ')}; found ${namesIn(folder)}. ${howToGet}`,
    );
  return { package: found, python: interpreterFor(found, { from, python }) };
}

function domainsOf({ package: folder }: Copy, asked: readonly string[] | undefined): readonly string[] {
  const envs = join(folder, 'envs');
  const there = knownDomains.filter((name) => existsSync(join(envs, name, 'tools')));
  if (there.length === 0)
    throw unimportable(
      'layout',
      `expected ${knownDomains.join(' and ')} in ${envs}, each with tools/ and data/; found ${namesIn(envs)}`,
    );
  return chosenParts(there, asked, envs);
}

async function importDomain(copy: Copy, name: string, { out, split, log, signal }: ImportOptions): Promise<Made> {
  const notCarried = new NotCarriedList(name);
  const settings = { package: copy.package, domain: name, wholeFloats: 'distinct' };
  const about = await askAdapter<About>(
    { name: benchmark, settings },
    { label: `tau-bench ${name}`, package: copy.package, out, python: copy.python, log, signal },
  );
  if (split !== undefined && about.splits[split] === undefined) {
    notCarried.ofDomain(noSplit(split, Object.keys(about.splits).sort()));
    return { domain: null, notCarried };
  }
  const chosen = split === undefined ? usualSplits.filter((each) => about.splits[each]) : [split];
  for (const what of restOf(copy, name, about, chosen)) notCarried.ofDomain(what);
  const domain: WrittenDomain = {
    benchmark,
    head: {
      name: `tau1-${name}`,
      description: `The domain ${name} of tau-bench (${versionIn(copy)}). Its tools run from ${copy.package}.`,
      turnCap,
      // tau-bench ends nothing because of errors, makes the first call of a message only, and hears the user's last word.
      toolErrorCap: 1000,
      callsPerResponse: 1,
      unreadableCalls: 'endRollout',
      userEnds: true,
      guard: false,
      stopWords: ['###STOP###'],
    },
    python: copy.python,
    settings,
    policy: about.policy,
    database: about.database.agent,
    persona: customer,
    tasks: chosen.flatMap((each) => writtenTasks(each, about, notCarried)),
  };
  return { domain, notCarried };
}

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

/**
 * Returns the tasks of a split in this engine's format. Parts of many tasks that are not carried over are reported
 * once.
 */
function writtenTasks(
  split: string,
  { splits, ends }: About,
  notCarried: NotCarriedList,
): readonly Record<string, unknown>[] {
  return (splits[split] ?? []).flatMap((raw, index): readonly Record<string, unknown>[] => {
    const origin = `${split}/${index}`;
    const parsed = tau1TaskSchema.safeParse(raw);
    const what = parsed.success ? obstacleOf(parsed.data) : `it is laid out otherwise: ${problemsOf(parsed.error)}`;
    if (!parsed.success || what !== null) {
      notCarried.task(origin, what ?? '');
      return [];
    }
    notCarried.ofTask(notCarriedIn(parsed.data));
    // What is not in the split `train` is never trained on.
    const half = split === 'train' ? ('train' as const) : ('test' as const);
    return [taskFrom(parsed.data, { id: `${split}-${index}`, origin, split: half }, ends)];
  });
}

/** Returns what a copy calls itself: the installed package, else the version that its setup file names. */
function versionIn({ package: folder }: Copy): string {
  const setup = join(dirname(folder), 'setup.py');
  const version = existsSync(setup) && /version\s*=\s*["']([^"']+)["']/.exec(textIn(setup))?.[1];
  return version ? `tau-bench ${version}` : versionOf(folder, /^tau.bench/, []);
}
