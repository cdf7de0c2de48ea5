import type * as z from 'zod';
import { taskIdFor, type WrittenDomain } from '../authoring/writtenDomain.ts';
import type { Benchmark } from '../engine/core/domain/benchmark.ts';
import { importEach } from './importedDomains.ts';
import { type ImportOptions, type ImportReport, type NotCarried, unimportable } from './importReport.ts';
import type { NotCarriedList } from './notCarriedList.ts';
import { askAdapter, copyFolder, interpreterFor, namesIn, type PackageName } from './userCopy.ts';

/** The folders of a user's copy: the one that a report names, and the Python package. */
export type Copy = { readonly folder: string; readonly package: string };

/** The parts of a copy that can be imported, and the folder in which they were found. */
type PartsOfCopy<Part> = { readonly names: readonly Part[]; readonly place: string };

/** Describes one part to the importer that makes its domain. */
type Making = {
  readonly version: string;
  readonly split: string | undefined;
  readonly notCarried: NotCarriedList;
  /** Returns what only the benchmark's own code can tell, as its adapter reports it; throws if it does not fit the schema. */
  readonly ask: <About>(schema: z.ZodType<About>, settings: WrittenDomain['settings']) => Promise<About>;
};

/** Imports a public benchmark from a user's copy. Its methods throw a `Fault` that describes an unexpected layout. */
export interface Importer<Found extends Copy = Copy, Part extends string = string> extends PackageName {
  /** The name of the benchmark in messages. */
  readonly label: string;
  /** Names a copy and the folders that it is expected to have. */
  readonly layout: string;
  /** The parts that are imported, each as a domain. */
  readonly parts: readonly Part[];
  /** The word for the parts of a benchmark without splits; absent if it has splits. */
  readonly withoutSplits?: string;
  /** Returns the folders of the copy in a folder; null if none is there. */
  locate(folder: string): Found | null;
  versionOf(copy: Found): string;
  partsIn(copy: Found, asked: readonly string[] | undefined): PartsOfCopy<Part>;
  /** Returns what else a copy has that is never imported. */
  othersIn?(copy: Found): readonly NotCarried[];
  /** Makes the domain of a part; null if it has no task of the chosen split. */
  domainOf(copy: Found, part: Part, making: Making): Promise<Omit<WrittenDomain, 'benchmark' | 'python'> | null>;
}

/**
 * Writes a domain for each part of a copy. Texts and data go from the user's copy into the user's folder; the tools stay
 * where they are. Throws a `Fault` that says what was found and what was expected.
 */
export async function importBenchmark(
  benchmark: Benchmark,
  importer: Importer,
  options: ImportOptions,
): Promise<ImportReport> {
  const { label, howToGet, layout, parts, withoutSplits } = importer;
  const { from, out, domains: asked, split, log, signal } = options;
  if (split !== undefined && withoutSplits !== undefined)
    throw unimportable(
      'split',
      `${label} has no splits; choose ${withoutSplits} with --domains, and leave --split out`,
    );
  const folder = copyFolder(from, importer, options.python);
  const copy = importer.locate(folder);
  if (!copy) throw unimportable('layout', `${folder} is not ${layout}; found ${namesIn(folder)}. ${howToGet}`);
  const python = interpreterFor(copy.folder, { from, python: options.python });
  const version = importer.versionOf(copy);
  const there = importer.partsIn(copy, asked);
  return importEach(
    { benchmark, from: copy.folder, version },
    chosenParts(there, asked),
    options,
    async (part, notCarried) => {
      const ask = <About>(schema: z.ZodType<About>, settings: WrittenDomain['settings']) =>
        askAdapter(
          schema,
          { name: benchmark, settings },
          { label: `${label} ${part}`, package: copy.package, out, python, log, signal },
        );
      const domain = await importer.domainOf(copy, part, { version, split, notCarried, ask });
      return domain && { ...domain, benchmark, python };
    },
    asked ? [] : [...absentParts(parts, there.names), ...(importer.othersIn?.(copy) ?? [])],
  );
}

/** Returns the parts that the user requested, in the order of the benchmark; all if none is named. */
function chosenParts({ names, place }: PartsOfCopy<string>, asked: readonly string[] | undefined): readonly string[] {
  const strangers = asked?.filter((name) => !names.includes(name)) ?? [];
  if (strangers.length === 0) return names.filter((name) => asked?.includes(name) ?? true);
  throw unimportable('domain', `${place} has no ${strangers.join(', ')}; what can be imported is ${names.join(', ')}`);
}

const absentParts = (known: readonly string[], there: readonly string[]): readonly NotCarried[] =>
  known.filter((name) => !there.includes(name)).map((domain) => ({ domain, what: 'this copy has none of it' }));

/** An entry of a benchmark on its way to a task. */
export type Entry = {
  /** The id in the benchmark. */
  readonly origin: string;
  /** The id in the domain before it is made unique; by default the one in the benchmark. */
  readonly named?: string;
  /** The entry in this engine's words, or why it cannot be a task. */
  readonly read:
    | string
    | {
        /** The task without its id and origin. */
        readonly task: Readonly<Record<string, unknown>>;
        /** The parts of it that are not kept or count for nothing. */
        readonly notCarried: readonly string[];
      };
};

/** Returns the entries as tasks. Parts of many tasks that are not carried over are reported once. */
export function writtenTasks(
  benchmark: Benchmark,
  entries: readonly Entry[],
  notCarried: NotCarriedList,
): WrittenDomain['tasks'] {
  const taken = new Set<string>();
  return entries.flatMap(({ origin, named = origin, read }) => {
    if (typeof read === 'string') notCarried.task(origin, read);
    if (typeof read === 'string' || notCarried.hasTask(origin)) return [];
    notCarried.ofTask(read.notCarried);
    return [{ id: taskIdFor(named, taken), origin: { benchmark, id: origin }, ...read.task }];
  });
}
