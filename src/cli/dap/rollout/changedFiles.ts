import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { baseTask } from '../../../engine/core/domain/taskVariant.ts';
import type { RolloutStarted } from '../../../engine/core/events/event.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { fileLimits, readBoundedText } from '../../../engine/shell/files/boundedFile.ts';

/** A file of the domain that reads otherwise than when the rollout began, and the first line that does. */
export type ChangedFile = { readonly file: string; readonly line: number };

/** A file that was edited while the rollout continued without it, and the step after which it changed first. */
export type EditedFile = ChangedFile & { readonly since: number };

type Known = { readonly text: string; stamp: string };

/**
 * The files that a rollout goes by (policy, rules, phrases, personas, its task, tools, domain.yaml), as they were when its
 * domain was read. What is edited meanwhile has no effect on it: its worker and its system prompt stay.
 */
export class ChangedFiles {
  readonly #known = new Map<string, Known>();
  /** Edited files as they were at the last look: their texts, and the step after which each changed first. */
  #seen: ReadonlyMap<string, { readonly text: string; readonly since: number }> = new Map();
  /** The step of the last look. */
  #looked = 0;

  constructor(domain: LoadedDomain, task: string) {
    for (const file of filesOf(domain, task)) this.#known.set(file, { text: textOf(file), stamp: stampOf(file) });
  }

  /** Every file that reads otherwise now. A file is read only where its time or size changed. */
  changed(): readonly ChangedFile[] {
    return [...this.#known].flatMap(([file, known]) => {
      if (stampOf(file) === known.stamp) return [];
      const text = textOf(file);
      return text === known.text ? [] : [{ file, line: firstDifference(known.text, text) }];
    });
  }

  /**
   * Looks for edits.
   * @param step the last one of the rollout
   * @returns every edited file, and those that read otherwise than at the last look
   */
  look(step: number): { readonly all: readonly EditedFile[]; readonly news: readonly EditedFile[] } {
    const before = this.#seen;
    const all = this.changed().map((each) => ({ ...each, since: before.get(each.file)?.since ?? this.#looked }));
    const seen = new Map(all.map(({ file, since }) => [file, { text: textOf(file), since }]));
    this.#seen = seen;
    this.#looked = step;
    return { all, news: all.filter(({ file }) => before.get(file)?.text !== seen.get(file)?.text) };
  }
}

/** Names of files in a sentence: `policy.md, tools.ts`. */
export function namesOf(files: readonly ChangedFile[]): string {
  return files.map(({ file }) => basename(file)).join(', ');
}

/** Returns a description of what a rollout did not start with in a domain; null if it started with all of it. */
export function newInDomain(
  { domain, parts }: LoadedDomain,
  started: RolloutStarted,
  files: readonly ChangedFile[],
): string | null {
  if (files.length > 0) return namesOf(files);
  if (started.policyHash !== domain.policy.hash) return basename(parts.policyFile);
  return started.domain.hash === domain.hash ? null : 'files of the domain';
}

/** Returns the files that a rollout of a task goes by; without a task, those that every rollout goes by. */
export function filesOf(
  { parts, locations, folder, pythonFile, toolsFile }: LoadedDomain,
  task?: string,
): readonly string[] {
  const places = [
    locations.domain,
    ...locations.personas.values(),
    ...[...locations.rules, task === undefined ? undefined : locations.tasks.get(baseTask(task))].filter(
      (each) => each !== undefined,
    ),
  ];
  const tools = [toolsFile, pythonFile].filter((each) => each !== null);
  const sources = parts.scan.sources.map(({ file }) => file);
  const phrases = [...parts.texts.values()].flatMap(({ kind, source }) => (kind === 'phrases' ? [source.file] : []));
  const verifiers = parts.verifiers.length > 0 ? [join(folder, 'verifiers.ts')] : [];
  const placed = places.map(({ file }) => file);
  return [...new Set([parts.policyFile, ...placed, ...tools, ...sources, ...phrases, ...verifiers])];
}

/** Returns what differs between two versions of a file, without reading it. */
export function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.mtimeMs} ${stat.size} ${stat.ino}` : 'missing';
}

/** One that is gone, or can't be read, reads as nothing: to load it then says why. */
function textOf(file: string): string {
  try {
    return readBoundedText(file, fileLimits.data);
  } catch {
    return '';
  }
}

function firstDifference(before: string, after: string): number {
  const [a, b] = [before.split('\n'), after.split('\n')];
  const at = b.findIndex((line, index) => line !== a[index]);
  return at < 0 ? Math.max(1, b.length) : at + 1;
}
