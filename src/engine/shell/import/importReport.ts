import { Fault } from '../fault.ts';

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
  /** The task, by its id in the benchmark; absent where it concerns the domain. */
  readonly task?: string;
  readonly what: string;
};

export type ImportReport = {
  readonly benchmark: string;
  readonly from: string;
  readonly version: string;
  readonly domains: readonly ImportedDomain[];
  readonly notCarried: readonly NotCarried[];
};

export type ImportOptions = {
  /** A folder, or the name of an installed Python package. */
  readonly from: string;
  /** Where the domains go, a folder each. */
  readonly out: string;
  /** The interpreter that has what the benchmark imports. */
  readonly python?: string;
  readonly domains?: readonly string[];
  /** One of the benchmark's own splits. */
  readonly split?: string;
  readonly log: (text: string) => void;
};

/** An import that can't be made: what was found, and what was expected. */
export function unimportable(code: string, message: string, file?: string): Fault {
  return new Fault({ who: 'environment', code: `import/${code}`, message, ...(file ? { file } : {}) });
}
