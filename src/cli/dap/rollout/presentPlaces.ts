import { contentHash } from '../../../engine/core/values/hash.ts';
import type { Json } from '../../../engine/core/values/json.ts';
import { type LoadedDomain, readFiles } from '../../../engine/shell/domain/loadDomain.ts';
import { errorsOf, type Location } from '../../../engine/shell/files/diagnostic.ts';
import type { Locations, TaskLocation } from '../../../engine/shell/load/loadedDomain.ts';
import type { Overlay } from '../../../engine/shell/source/source.ts';
import { filesOf, stampOf } from './changedFiles.ts';

/**
 * The domain of a rollout, with its rules, tools, personas and tasks on the lines where the files have them now. They are
 * found by their ids. What they say is what the rollout began with: only their lines are new.
 */
export class PresentPlaces {
  /** Called when a file was read again. */
  onMoved: () => void = () => undefined;
  readonly #begun: LoadedDomain;
  readonly #files: Set<string>;
  #domain: LoadedDomain;
  #stamps: string;

  constructor(begun: LoadedDomain) {
    this.#begun = begun;
    this.#domain = begun;
    this.#files = new Set(filesOf(begun));
    this.#stamps = this.#stampsNow();
  }

  /** As of the last `look`. */
  get domain(): LoadedDomain {
    return this.#domain;
  }

  /**
   * Reads the files again where one of them has changed.
   * @param file one that a client asks about, which is followed from then on
   */
  refresh(file?: string): void {
    if (file !== undefined && this.#begun.parts.texts.has(file)) this.#files.add(file);
    const stamps = this.#stampsNow();
    if (stamps === this.#stamps) return;
    this.#stamps = stamps;
    this.#domain = placed(this.#begun);
    this.onMoved();
  }

  /** Returns the domain with its parts where an unsaved text has them. */
  withUnsaved(file: string, text: string): LoadedDomain {
    return placed(this.#begun, new Map([[file, text]]));
  }

  #stampsNow(): string {
    return [...this.#files].map((file) => `${file} ${stampOf(file)}`).join('\n');
  }
}

function placed(begun: LoadedDomain, unsaved?: Overlay): LoadedDomain {
  const { locations, parts } = readNow(begun, unsaved);
  const rules = followed(
    begun.parts.rules.map(({ value }) => value as Json),
    parts.rules.map(({ value }) => value as Json),
    locations.rules,
  );
  const { policyFile, scan, sync } = parts;
  return {
    ...begun,
    locations: { ...locations, rules, tasks: tasksFollowed(begun, parts.tasks, locations) },
    parts: { ...begun.parts, policyFile, scan, sync },
  };
}

/** Reads the files. While domain.yaml cannot be used, the others are found by what it said when the rollout began. */
function readNow({ folder, locations, parts }: LoadedDomain, unsaved: Overlay = new Map()): LoadedDomain {
  const read = (overlay: Overlay) => readFiles(folder, { soundness: false, databases: false, overlay });
  const present = read(unsaved);
  const { file } = locations.domain;
  const begun = parts.texts.get(file)?.source.text;
  const isBroken = errorsOf(present.diagnostics).some((each) => each.file === file);
  return isBroken && begun !== undefined ? read(new Map([...unsaved, [file, begun]])) : present;
}

const lists = ['actions', 'assertions', 'communicate', 'script'] as const;

function tasksFollowed(
  begun: LoadedDomain,
  present: LoadedDomain['parts']['tasks'],
  { tasks }: Locations,
): Locations['tasks'] {
  const before = new Map(begun.parts.tasks.map(({ value }) => [value.id, value] as const));
  return new Map(
    present.flatMap(({ value: now }) => {
      const at = tasks.get(now.id);
      const then = before.get(now.id);
      if (!at) return [];
      if (!then || then === now) return [[now.id, at] as const];
      const parts = lists.map((key) => [
        key,
        followed((then[key] ?? []) as Json[], (now[key] ?? []) as Json[], at[key]),
      ]);
      return [[now.id, { ...at, ...Object.fromEntries(parts) } as TaskLocation] as const];
    }),
  );
}

/** Returns the place of each former item where the items of now have it; none where it was changed or taken out. */
function followed(
  before: readonly Json[],
  now: readonly Json[],
  places: readonly (Location | undefined)[],
): readonly (Location | undefined)[] {
  const left = Map.groupBy(now.keys(), (index) => contentHash(now[index] as Json));
  return before.map((item) => {
    const index = left.get(contentHash(item))?.shift();
    return index === undefined ? undefined : places[index];
  });
}
