import type { Note } from '../messages/protocol.ts';
import type { Entry, Trajectory } from './entries.ts';
import { isNobodys } from './trajectory.ts';

/** The party responsible for something that went wrong. */
export type Who = 'agent' | 'simulator' | 'environment' | 'infrastructure';

/** Something that went wrong in an entry, or that a verdict against the rollout names as its evidence. */
export type Finding = {
  /** A reason of `reasonLabels`, or the stable code of a failure. */
  readonly reason: string;
  readonly who: Who | null;
  readonly rule?: string;
};

/** The reasons in words; the code of a failure is shown unchanged. */
export const reasonLabels: Readonly<Record<string, string>> = {
  ruleViolated: 'Rule violated',
  verifierViolated: 'Verifier violated',
  toolError: 'Tool error',
  invalidCall: 'Invalid call',
  seededFault: 'Seeded fault',
  refused: 'Refused by the guard',
  mismatch: 'Result does not match its output schema',
  turnCap: 'Turn cap reached',
  messageCap: 'Message cap reached',
  toolErrorCap: 'Tool error cap reached',
  judgedNo: 'Judge said no',
  evidence: 'Evidence of a violation',
  noReward: 'Reward not 1',
};

/** Returns the findings in each entry, in order. */
export function findingsOf(trajectory: Trajectory, notes: ReadonlyMap<number, Note>): readonly (readonly Finding[])[] {
  const evidence = evidenceOf(trajectory);
  const failedBy = trajectory.rewarded?.failedBy ?? null;
  return trajectory.entries.map((entry) => [
    ...entry.steps.flatMap(({ n, event }) => [
      ...inEvent(event, failedBy),
      ...((notes.get(n)?.refused.length ?? 0) > 0 ? [{ reason: 'refused', who: 'simulator' } as const] : []),
      ...(notes.get(n)?.mismatch === undefined ? [] : [{ reason: 'mismatch', who: 'environment' } as const]),
    ]),
    ...namesFor(entry, evidence).map((rule) => ({ reason: 'evidence', who: failedBy, rule })),
  ]);
}

/** Returns what the report card violated, by the steps that decide it: names of rules and of other items. */
export function evidenceOf({ rewarded }: Pick<Trajectory, 'rewarded'>): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, readonly string[]>();
  for (const { items } of rewarded?.card ?? []) {
    for (const { name, verdict, evidence } of items) {
      if (verdict !== 'violated') continue;
      for (const n of evidence) found.set(n, [...new Set([...(found.get(n) ?? []), name])]);
    }
  }
  return found;
}

/** Names of the violated items that an entry is evidence of. */
export function namesFor({ steps }: Entry, evidence: ReadonlyMap<number, readonly string[]>): readonly string[] {
  return [...new Set(steps.flatMap(({ n }) => evidence.get(n) ?? []))];
}

function inEvent(event: Entry['steps'][number]['event'], failedBy: Who | null): readonly Finding[] {
  switch (event.type) {
    case 'rulesChecked':
      return event.verdicts
        .filter(({ verdict }) => verdict === 'violated')
        .map(({ rule }) => ({ reason: 'ruleViolated', who: 'agent', rule }));
    case 'verdictReached':
      return event.verdict.held || event.verdict.unknown ? [] : [{ reason: 'verifierViolated', who: failedBy }];
    case 'toolCalled':
      return typeof event.call.arguments === 'string'
        ? [{ reason: 'invalidCall', who: event.by ? null : 'agent' }]
        : [];
    case 'toolReturned':
      return event.isError ? [{ reason: 'toolError', who: null }] : [];
    case 'faultInjected':
      return [{ reason: 'seededFault', who: 'environment' }];
    case 'judged':
      return event.holds === false ? [{ reason: 'judgedNo', who: null }] : [];
    case 'rolloutEnded':
      if (event.failure) return [{ reason: event.failure.code, who: event.failure.who }];
      return event.reason.endsWith('Cap') ? [{ reason: event.reason, who: failedBy }] : [];
    case 'rewarded':
      return event.reward === 1 || isNobodys(event) ? [] : [{ reason: 'noReward', who: failedBy }];
    default:
      return [];
  }
}
