import { dirname } from 'node:path';
import type { Persona } from '../../core/domain/persona.ts';
import type { Task } from '../../core/domain/task.ts';
import { endReasonText, rewardText } from '../../core/events/displayText.ts';
import { mostTries } from '../../core/seats/goldPlan.ts';
import { describeCodeTools, describeExternalTools } from '../describe.ts';
import { check } from '../domain/check.ts';
import { loadDomain } from '../domain/loadDomain.ts';
import { type Diagnostic, errorsOf, unfitness, unfitnessInWords } from '../files/diagnostic.ts';
import { Fault } from '../files/fault.ts';
import { type Draft, draftsOf, isWithin, withDrafts } from '../load/drafts.ts';
import { fitnessOf } from '../load/fitness.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';
import { placeOf } from '../source/items.ts';
import { notebook } from '../source/note.ts';
import type { Overlay } from '../source/source.ts';
import { type AuditOptions, audit } from './audit.ts';
import { undecided } from './goldReplay.ts';
import { openStage } from './stage.ts';

/** A draft, and what keeps it from being accepted. */
export type Gated = {
  readonly draft: Draft;
  /** Errors and warnings, of reading it and of playing it. */
  readonly findings: readonly Diagnostic[];
  /** Why playing it told nothing, as where only a model could; null where it did. */
  readonly undecided: string | null;
  readonly passes: boolean;
};

export type GateOptions = Pick<AuditOptions, 'signal' | 'onProgress' | 'onRollout'> & {
  /** Drafts that are not written yet, by the path of their file. */
  readonly overlay?: Overlay;
  /** Ids of drafts; all of the domain where it is left out. */
  readonly ids?: readonly string[];
  /** Whether the drafts are played; without it they are only read and checked, and none passes. */
  readonly plays?: boolean;
};

/**
 * Returns how often playing a draft makes the call of its single gold action at most. The gold seat plays it twice. Where
 * the server has a reader, the call is also made to find out whether rollouts share its state, and after each rollout, of
 * the gold seat and of an agent that does nothing, to compare the states.
 */
export function mostCallsOfDraft(hasReader: boolean): number {
  const goldRollouts = 2;
  return goldRollouts * mostTries + (hasReader ? 1 + goldRollouts + 1 : 0);
}

/** Tasks that are played under a draft persona at most. */
const tasksPerPersona = 3;

/**
 * Returns what drafts must pass before they count: everything that `check --audit` finds, of them alone. Nothing is
 * written.
 * @throws Fault where something that every rollout uses has errors, or a file of the drafts, so that they cannot be played
 */
export async function gate(folder: string, options: GateOptions): Promise<readonly Gated[]> {
  const { overlay, ids, plays = true, signal, onProgress, onRollout } = options;
  const { loaded, diagnostics } = await check({
    folder,
    ...(overlay ? { overlay } : {}),
    describeTools: () => describeCodeTools(loadDomain(folder)),
    describeExternal: describeExternalTools,
  });
  const drafts = draftsOf(loaded.parts).filter(({ placed }) => ids?.includes(placed.value.id) ?? true);
  // Errors of other tasks and personas do not prevent a draft from running.
  const errors = [...fitnessOf(loaded).shared, ...errorsOf(diagnostics).filter(({ file }) => overlay?.has(file))];
  if (errors.length > 0)
    throw new Fault(
      { who: 'environment', code: 'draft/unfit', message: unfitness(errors) },
      { inDialog: unfitnessInWords(errors, dirname(folder)) },
    );
  if (!plays) return drafts.map((draft) => unplayed(draft, diagnostics));
  const tasks = drafts.flatMap(({ kind, placed }) => (kind === 'task' ? [placed.value.id] : []));
  const progress = { signal, ...(onProgress ? { onProgress } : {}), ...(onRollout ? { onRollout } : {}) };
  const audited = tasks.length > 0 ? await audit(loaded, { ...progress, drafts: tasks }) : null;
  const played = await playUnder(loaded, drafts, signal);
  const found = [...diagnostics, ...(audited?.diagnostics ?? []), ...played.found];
  const findingsOf = ({ placed }: Draft) =>
    found.filter(({ file, line, severity }) => severity !== 'info' && isWithin(file, line, placed));
  // The audit has played the drafts of tasks under their own personas.
  const served = new Set(
    drafts.flatMap((draft) => {
      const isServed =
        draft.kind === 'task' &&
        findingsOf(draft).every(({ code }) => code === 'task/draft-persona') &&
        !audited?.undecided.some(({ task }) => task === draft.placed.value.id);
      return isServed ? [draft.placed.value.persona] : [];
    }),
  );
  const gated = drafts.map((draft): Gated => {
    const own = findingsOf(draft);
    const open = audited?.undecided.find(({ task }) => draft.kind === 'task' && task === draft.placed.value.id);
    const { id } = draft.placed.value;
    const reason = draft.kind === 'task' ? open?.reason : served.has(id) ? undefined : played.undecided.get(id);
    // A task that only a model can play or judge is accepted as it is read.
    const isTried = reason === undefined || open?.needsModel === true;
    return {
      draft,
      findings: own,
      undecided: reason ?? null,
      passes: own.length === 0 && isTried && !signal.aborted,
    };
  });
  const sound = gated.flatMap(({ draft, passes }) =>
    draft.kind === 'persona' && passes ? [draft.placed.value.id] : [],
  );
  return gated.map((each) => withPersona(each, sound, signal));
}

function unplayed(draft: Draft, diagnostics: readonly Diagnostic[]): Gated {
  const findings = diagnostics.filter(
    ({ file, line, severity }) => severity !== 'info' && isWithin(file, line, draft.placed),
  );
  return { draft, findings, undecided: 'you chose not to play it', passes: false };
}

/** A task may wait for its persona where that is accepted with it. */
function withPersona(gated: Gated, personas: readonly string[], signal: AbortSignal): Gated {
  const { draft } = gated;
  if (draft.kind === 'persona' || !personas.includes(draft.placed.value.persona)) return gated;
  const findings = gated.findings.filter(({ code }) => code !== 'task/draft-persona');
  return { ...gated, findings, passes: findings.length === 0 && !signal.aborted };
}

type Played = {
  readonly found: readonly Diagnostic[];
  /** Why nothing told whether a persona is sound, by its id. */
  readonly undecided: ReadonlyMap<string, string>;
};

/** A persona is sound where the gold seat can serve it: it plays some of the domain's own tasks under it. */
async function playUnder(loaded: LoadedDomain, drafts: readonly Draft[], signal: AbortSignal): Promise<Played> {
  const personas = drafts.flatMap((draft) => (draft.kind === 'persona' ? [draft.placed] : []));
  const undecidedOnes = new Map<string, string>();
  if (personas.length === 0) return { found: [], undecided: undecidedOnes };
  const { found, note } = notebook();
  const staged = withDrafts(loaded);
  const parts = personas.flatMap((placed) =>
    tasksFor(placed.value, loaded).map((task) => ({ placed, task, own: under(task, placed.value.id) })),
  );
  for (const { value } of personas)
    if (!parts.some(({ placed }) => placed.value.id === value.id)) undecidedOnes.set(value.id, untriedBecause(value));
  const decided = new Set<string>();
  const stage = await openStage(
    staged,
    signal,
    parts.map(({ own }) => own),
  );
  try {
    for (const {
      placed,
      task: { id },
      own,
    } of parts) {
      if (signal.aborted) break;
      if (found.some((each) => isWithin(each.file, each.line, placed))) continue;
      const closed = await stage.play({ task: own, agent: 'gold' });
      const open = undecided(closed);
      if (open !== null) undecidedOnes.set(placed.value.id, open.reason);
      else decided.add(placed.value.id);
      if (closed.reward === 1 || open !== null) continue;
      note(
        placeOf(placed, 'id'),
        'warning',
        'persona/gold-fails',
        `The gold seat, which follows the policy, gets ${rewardText(closed.reward)} on the task ${id} under this persona: ${endReasonText(closed.endReason)}.`,
        'Increase its patience, or give it fewer hard behaviors.',
      );
    }
  } finally {
    await stage.close();
  }
  for (const id of decided) undecidedOnes.delete(id);
  return { found, undecided: undecidedOnes };
}

/** Returns what a domain lacks for a persona to be played. */
function untriedBecause({ behaviours: { changes, insists } }: Persona): string {
  const needs = [...(changes ? ['`change:`'] : []), ...(insists ? ['`insist:`'] : [])].join(' and ');
  return needs === ''
    ? 'the domain has no task to run it with'
    : `no task of the domain has ${needs}, which this persona needs: write such a task, or accept the persona together with one`;
}

/**
 * Tasks that a persona can be tried on: those with words for what it does. The gold actions of a task with a change of
 * mind are right only under a persona that changes.
 */
function tasksFor({ id, behaviours }: Persona, loaded: LoadedDomain): readonly Task[] {
  const { ofTask } = fitnessOf(loaded);
  const suits = ({ user }: Task) =>
    (behaviours.changes ? user.change : !user.change) && (!behaviours.insists || user.insist);
  // A task can lack a persona: the draft takes that place.
  const runs = (task: Task) =>
    ofTask({ id: task.id, persona: id }).every(({ code }) => code === 'task/unknown-persona');
  return loaded.tasks.filter((task) => suits(task) && runs(task)).slice(0, tasksPerPersona);
}

/** The task as this persona's own. */
function under(task: Task, persona: string): Task {
  const { under: _, ...rest } = task;
  return { ...rest, id: `audit-${task.id}-${persona}`, persona };
}
