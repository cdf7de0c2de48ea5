import type { JSX } from 'preact';
import { layerMark } from '../../engine/core/events/displayText.ts';
import type { CardItem, ReportCard } from '../../engine/core/events/reportCard.ts';
import type { Trajectory } from '../models/entries.ts';
import { cardTitle, failedText, layerText, layerTitles, noRewardText, stepsOf } from '../models/trajectory.ts';
import { Link } from '../parts/link.tsx';
import { Mark } from '../parts/mark.tsx';
import type { Actions } from './actions.ts';
import { StepLinks } from './stepLinks.tsx';

/** The evaluation next to the reward: five layers, what decided each, and who failed. */
export function ReportCardPart({
  trajectory,
  isWritten,
  actions,
}: {
  readonly trajectory: Trajectory;
  /** Whether a process may still add to the recording. */
  readonly isWritten: boolean;
  readonly actions: Actions;
}): JSX.Element {
  const { rewarded, ended } = trajectory;
  const failure = ended?.failure;
  const failed = failedText(trajectory);
  return (
    <section class="report-card" aria-labelledby="report-card">
      <h2 id="report-card">Report card</h2>
      {failed !== null && (
        <p>
          <strong>{failed}</strong>
        </p>
      )}
      {failure && (
        <p class="failure">
          {failure.message} <code>{failure.code}</code>
          {failure.file && (
            <span class="muted">
              {' '}
              {failure.file}
              {failure.line === undefined ? '' : `:${failure.line}`}
            </span>
          )}
        </p>
      )}
      {!rewarded && <p class="muted">{noRewardText(trajectory, isWritten)}</p>}
      {rewarded && !rewarded.card && <p class="muted">This recording was made without a report card.</p>}
      {rewarded?.card?.map((layer) => (
        <Layer key={layer.layer} {...layer} actions={actions} />
      ))}
    </section>
  );
}

function Layer({ layer, verdict, items, actions }: ReportCard[number] & { readonly actions: Actions }): JSX.Element {
  const mark = layerMark(verdict, items);
  const title = <span class="layer">{layerTitles[layer]}</span>;
  if (mark === null)
    return (
      <p class="box">
        {title} <span class="muted">{layerText(items)}</span>
      </p>
    );
  return (
    <details class="box" open={verdict === 'violated'}>
      <summary>
        {title} <Mark verdict={mark} text={layerText(items)} />
      </summary>
      <ul>
        {worstFirst(items).map(({ name, verdict: own, reason, evidence, line }, index) => (
          <li key={index}>
            <Mark verdict={own} />{' '}
            {line === undefined ? (
              <strong>{cardTitle({ name })}</strong>
            ) : (
              <Link label={`Open rule ${name}`} onPress={() => actions.openPlace('rule', name)}>
                {name}
              </Link>
            )}
            {': '}
            <span class="muted">{reason}</span> <StepLinks {...stepsOf({ evidence, line })} goTo={actions.goTo} />
          </li>
        ))}
      </ul>
    </details>
  );
}

const ranks = { violated: 0, unknown: 1, held: 2 } as const;

function worstFirst(items: readonly CardItem[]): readonly CardItem[] {
  return items.toSorted((a, b) => ranks[a.verdict] - ranks[b.verdict]);
}
