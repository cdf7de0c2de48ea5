import type { TrainingKind } from '../../engine/core/domain/trainingKind.ts';
import type { Interpreter } from '../python/pythonEnvironment.ts';
import type { Io } from '../terminal/io.ts';
import type { Needs, PromptLength } from './needs.ts';

/** A training run that is to be started or continued with, in the words of this machine. */
export type Launch = {
  readonly kind: TrainingKind;
  /** The run's folder on this machine. */
  readonly run: string;
  /** The trainer's configuration. Its absolute paths are on this machine; a remote target uploads what they name. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Puts before the trainer's words about a key where its value was written, if that was in a file. */
  readonly placed?: (words: string) => string;
  /** Continues from the last checkpoint. */
  readonly isResumed: boolean;
  /** Whether the command line returns once it runs. */
  readonly isDetached: boolean;
  /**
   * An existing Python of the target that trains without changes; undefined: the trainer's own environment, made on
   * first use.
   */
  readonly python: Interpreter | undefined;
  /**
   * The disk space that the run needs on the target in addition to the copied files, in bytes; undefined: the trainer's
   * estimate.
   */
  readonly disk: number | undefined;
};

/** The expected needs of a run, shown before it starts. Sizes are in bytes. */
export type Plan = {
  /** The target's name. */
  readonly target: string;
  /** The device that trains; absent where only the cluster knows. */
  readonly device?: string;
  readonly profile: string;
  /** Why this profile, as a full sentence. */
  readonly reason: string;
  /** Copied or downloaded before the run starts. */
  readonly downloads: readonly { readonly what: string; readonly bytes: number }[];
  /** The trainer's report about the model; absent until its Python environment exists. */
  readonly needs?: Needs;
  /** Absent where the policy and the tools are short, and where they cannot be counted here. */
  readonly prompt?: PromptLength;
};

/** The results of checking a target for a launch. */
export type Inspected = {
  /** The launch with the profile that the run gets. */
  readonly launch: Launch;
  readonly plan: Plan;
  /** Brings what the run needs, makes its environment, and lets the trainer read the configuration there. */
  readonly prepare: () => Promise<Prepared>;
};

/** A target that has all that a launch needs. */
export type Prepared = {
  /** Starts the trainer; resolves once it says that it has begun. */
  readonly start: () => Promise<{ readonly pid?: number | undefined }>;
};

/**
 * A place where training runs: this machine, a machine over SSH, or a Ray cluster. The run's folder on this machine is
 * the same for every target, so its readers need not know where it was trained. Each operation throws a `Fault` whose
 * message says what to do.
 */
export type Target = {
  /** For people: "this machine", "ada@gpu.example". */
  readonly name: string;
  /** The end of a stopped run that can't finish its optimizer step, in words: "at once, and …". */
  readonly ending?: string;
  /** Finds what would make the run fail, before anything is copied or spent. */
  readonly preflight: (launch: Launch, io: Io) => Promise<Inspected>;
  /**
   * Keeps the run's folder on this machine up to date until the run is over; a run that failed is a `Fault`. The end
   * of `io.signal` ends the following, and what runs lives on.
   */
  readonly follow: (run: string, io: Io) => Promise<void>;
  /** Asks for the end of the run after its current optimizer step, with a checkpoint, or as `ending` says. */
  readonly stop: (run: string, io: Io) => Promise<void>;
  /**
   * Brings a checkpoint into the run's folder on this machine.
   * @param checkpoint its name; undefined: the newest
   * @returns its folder
   */
  readonly fetch: (run: string, checkpoint: string | undefined, io: Io) => Promise<string>;
};

/** Returns how a run of this kind ends on this target when it is asked to. */
export function endingOf({ ending }: Target, kind: TrainingKind | undefined): string {
  if (kind === 'evaluate') return 'after the rollouts that are being played; resume plays the others';
  return ending ?? 'after its current optimizer step, with a checkpoint';
}
