import type { JSX } from 'preact';
import type { VerdictLine } from '../models/trajectory.ts';
import { distinctVerdicts, restText } from '../models/verdicts.ts';
import { Link } from '../parts/link.tsx';
import { Mark } from '../parts/mark.tsx';
import type { Actions } from './actions.ts';
import { StepLinks } from './stepLinks.tsx';

export type VerdictsProps = {
  readonly verdicts: readonly VerdictLine[];
  /** Also those that held. */
  readonly all: boolean;
  readonly actions: Actions;
  readonly inTabOrder: boolean;
};

/** Verdicts of rules and verifiers: what went wrong at once, what held as a count until the entry is opened. */
export function Verdicts({ verdicts, all, actions, inTabOrder }: VerdictsProps): JSX.Element {
  const shown = distinctVerdicts(all ? verdicts : verdicts.filter(({ verdict }) => verdict === 'violated'));
  const rest = all ? '' : restText(verdicts);
  return (
    <div class="verdicts">
      {shown.length > 0 && (
        <ul aria-label="Verdicts">
          {shown.map(({ name, verdict, detail, evidence, rule, gate }, index) => (
            <li key={index}>
              <Mark verdict={verdict} />{' '}
              {rule === undefined ? (
                <strong>{name}</strong>
              ) : (
                <Link
                  label={`Open rule ${rule}`}
                  onPress={() => actions.openPlace('rule', rule)}
                  inTabOrder={inTabOrder}
                >
                  {name}
                </Link>
              )}
              {gate && verdict === 'violated' && <span class="gate"> (makes the reward 0)</span>}
              {': '}
              <span class="muted">{detail}</span>{' '}
              {verdict !== 'held' && (
                <StepLinks steps={[]} evidence={evidence} goTo={actions.goTo} inTabOrder={inTabOrder} />
              )}
            </li>
          ))}
        </ul>
      )}
      {rest !== '' && <p class="muted rest">{rest}</p>}
    </div>
  );
}
