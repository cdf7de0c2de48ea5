import type { Benchmark } from '../engine/core/domain/benchmark.ts';
import { Fault } from '../engine/shell/files/fault.ts';

/** A domain that an import has written. */
export type ImportedDomain = {
  readonly name: string;
  readonly folder: string;
  readonly tasks: number;
  readonly train: number;
  readonly test: number;
};

/** Something of the benchmark that is not in the written domain, or not as it was. */
export type NotCarried = {
  readonly domain: string;
  /** The task, by its id in the benchmark; absent if it concerns the domain. */
  readonly task?: string;
  readonly what: string;
};

export type ImportReport = {
  readonly benchmark: Benchmark;
  readonly from: string;
  readonly version: string;
  readonly domains: readonly ImportedDomain[];
  readonly notCarried: readonly NotCarried[];
};

export type ImportOptions = {
  /** A folder, or the name of an installed Python package. */
  readonly from: string;
  /** The folder in which each domain gets its own folder. */
  readonly out: string;
  /** The interpreter that has what the benchmark imports. */
  readonly python?: string;
  readonly domains?: readonly string[];
  /** One of the benchmark's own splits. */
  readonly split?: string;
  readonly log: (text: string) => void;
  /** Aborts when the person stops the import. */
  readonly signal?: AbortSignal;
};

/** Returns how many domains as a whole, and how many tasks of the others, an import has left out. */
export function leftOut({ domains, notCarried }: Pick<ImportReport, 'domains' | 'notCarried'>): {
  readonly domains: number;
  readonly tasks: number;
} {
  const isMade = ({ domain }: NotCarried) => domains.some(({ name }) => name === domain);
  return {
    domains: new Set(notCarried.filter((each) => !isMade(each)).map(({ domain }) => domain)).size,
    tasks: notCarried.filter((each) => isMade(each) && each.task !== undefined).length,
  };
}

/** Returns the error for an import that can't be made: what was found, and what was expected. */
export function unimportable(code: string, message: string, file?: string): Fault {
  return new Fault({ who: 'environment', code: `import/${code}`, message, ...(file ? { file } : {}) });
}

/** Returns the message for a part that has no tasks of the requested split. */
export function noSplit(split: string, there: readonly string[]): string {
  return `has no split "${split}"; it has ${there.join(', ')}`;
}
