import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from '../../../scripts/repository.ts';
import { markdownTable, withGenerated } from '../../support/markdownTable.ts';
import { causeOf } from './causes.ts';
import { type Peer, type Played, peers } from './peers.ts';
import { injectionOf, injections } from './plans.ts';

/** The outcomes of rollouts, in the order and the words of the table. */
const outcomes = {
  same: 'the reward is the same as without the fault',
  agent: "the agent's own failure: reward 0",
  wrong: 'another reward without an error',
  named: 'marked as failed; the cause names the fault',
  unnamed: 'marked as failed; the cause does not name it',
  lost: 'no record of the rollout',
} as const;
type Outcome = keyof typeof outcomes;

type Shown = { readonly peer: Peer; readonly played: readonly Played[] };

/** Returns the outcome of an affected rollout. */
function outcomeOf({ at, due, result }: Played): Outcome {
  const fault = injectionOf(at)?.fault;
  if (!result || !fault) return 'lost';
  if (result.error !== null) return causeOf(fault.name).test(result.error) ? 'named' : 'unnamed';
  if (result.reward === due) return 'same';
  return fault.outcomes.agent && result.reward === 0 ? 'agent' : 'wrong';
}

const isAsDue = ({ due, result }: Played) => result?.error === null && result.reward === due;
const isOf = (outcome: Outcome) => (played: Played) => played.isAffected && outcomeOf(played) === outcome;

const legend = 'The frameworks differ after these faults (unchanged: the same reward as without the fault):';

/** Writes the results in dist/peers into docs/injected-faults.md. */
export function writeTables(): void {
  const shown = Object.entries(peers).flatMap(([name, peer]): readonly Shown[] => {
    const file = inRoot('dist', 'peers', `${name}.json`);
    return existsSync(file) ? [{ peer, played: JSON.parse(readFileSync(file, 'utf8')) }] : [];
  });
  const page = inRoot('docs', 'injected-faults.md');
  const date = new Date().toISOString().slice(0, 10);
  const text = [`Played on ${date}.`, countsOf(shown), legend, faultsOf(shown)];
  writeFileSync(page, withGenerated(readFileSync(page, 'utf8'), 'peers', text.join('\n\n')));
}

function countsOf(shown: readonly Shown[]): string {
  const count = (wanted: (played: Played) => boolean) =>
    shown.map(({ played }) => String(played.filter(wanted).length));
  const kinds = shown.map(({ played }) => {
    const affected = played.filter(({ isAffected }) => isAffected);
    return String(new Set(affected.map(({ at }) => injectionOf(at)?.fault)).size);
  });
  return markdownTable([
    ['rollouts', ...shown.map(({ peer }) => peer.title)],
    ['kinds of faults', ...kinds],
    ['affected', ...count(({ isAffected }) => isAffected)],
    ...Object.entries(outcomes).map(([outcome, words]) => [words, ...count(isOf(outcome as Outcome))]),
    ['no fault injected', ...count(({ isAffected }) => !isAffected)],
    ['no fault injected, but another reward', ...count((played) => !played.isAffected && !isAsDue(played))],
  ]);
}

/** Returns a row for each fault after which the frameworks differ. */
function faultsOf(shown: readonly Shown[]): string {
  const rows = injections.flatMap((plan) => {
    const cells = shown.map(({ played }) =>
      cellOf(played.filter(({ at, isAffected }) => isAffected && injectionOf(at) === plan)),
    );
    const where = plan.type === 'tool' ? 'tools' : 'model';
    const isSame = new Set(cells.filter((cell) => cell !== '-')).size < 2;
    return isSame ? [] : [[plan.fault.name, where, ...cells]];
  });
  return markdownTable([['fault', 'where', ...shown.map(({ peer }) => peer.title)], ...rows]);
}

const short: Readonly<Record<Outcome, string>> = {
  same: 'unchanged',
  agent: "agent's failure",
  wrong: 'another reward',
  named: 'failed, named',
  unnamed: 'failed, not named',
  lost: 'lost',
};

function cellOf(played: readonly Played[]): string {
  const found = Map.groupBy(played, outcomeOf);
  const parts = Object.entries(short).flatMap(([outcome, words]) => {
    const count = found.get(outcome as Outcome)?.length ?? 0;
    return count > 0 ? [`${count} ${words}`] : [];
  });
  return parts.join(', ') || '-';
}
