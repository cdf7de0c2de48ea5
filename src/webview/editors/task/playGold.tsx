import type { JSX } from 'preact';
import { layerMark } from '../../../engine/core/events/displayText.ts';
import type { ReportCard } from '../../../engine/core/events/reportCard.ts';
import type { Ran } from '../../messages/editorMessages.ts';
import { cardTitle, changesOf, layerText, layerTitles } from '../../models/trajectory.ts';
import { Changes } from '../../parts/changes.tsx';
import { Button } from '../../parts/controls.ts';
import { Mark } from '../../parts/mark.tsx';
import type { Ask } from '../frame.tsx';
import { RunOutcome } from '../outcome.tsx';

export type PlayGoldProps = {
  readonly ran: Ran | null;
  readonly ask: Ask;
  readonly isTrusted: boolean;
  readonly taskId: string;
  /** Whether the task fits its schema. */
  readonly isFit: boolean;
  /** Whether the text has changed since the last run. */
  readonly isEarlier: boolean;
};

/** The gold seat plays the task: what it changes, and what the verifiers and rules say about it. */
export function PlayGold({ ran, ask, isTrusted, taskId, isFit, isEarlier }: PlayGoldProps): JSX.Element {
  const played = ran?.outcome?.type === 'goldPlayed' && ran.outcome.task !== taskId ? null : ran;
  return (
    <section aria-labelledby="gold">
      <h2 id="gold">Gold rollout</h2>
      <div class="actions">
        <Button
          primary
          disabled={!isTrusted || !isFit || (ran?.isRunning ?? false)}
          onPress={() => ask({ type: 'playGold' })}
        >
          Play Gold
        </Button>
        <span class="muted">
          {!isFit
            ? 'Fix the error in this form to play the task.'
            : isTrusted
              ? 'Plays this task with its gold actions, the calls in the list below. The rollout is not kept in Runs.'
              : "Requires a trusted workspace: a rollout runs the domain's tools, which are programs."}
        </span>
      </div>
      <RunOutcome ran={played} type="goldPlayed" ask={ask} isEarlier={isEarlier}>
        {({ reward, reason, failedBy, card, writes, turns }) => (
          <div class="called">
            <p>
              <strong>{reward === 1 ? '✓ Reward 1' : `✕ ${reward === null ? 'No reward' : `Reward ${reward}`}`}</strong>{' '}
              <span class="muted">
                {reason}
                {failedBy && ` · failed by: ${failedBy}`} · {turns} turns
              </span>
            </p>
            <div class="form-columns">
              <div>
                <h3>What it changed</h3>
                {writes.length > 0 ? <Changes changes={changesOf(writes)} whole /> : <p class="muted">Nothing.</p>}
              </div>
              <Card card={card} />
            </div>
            <div class="actions">
              <Button onPress={() => ask({ type: 'openPlayed' })}>Open Recording</Button>
            </div>
          </div>
        )}
      </RunOutcome>
    </section>
  );
}

function Card({ card }: { readonly card: ReportCard }): JSX.Element {
  return (
    <div>
      <h3>Report card</h3>
      <ul class="plain-list">
        {card.map(({ layer, verdict, items }) => {
          const mark = layerMark(verdict, items);
          const text = layerText(items);
          return (
            <li key={layer}>
              {mark === null ? (
                <>
                  {layerTitles[layer]} <span class="muted">{text}</span>
                </>
              ) : (
                <details open={verdict === 'violated'}>
                  <summary>
                    {layerTitles[layer]} <Mark verdict={mark} text={text} />
                  </summary>
                  <ul>
                    {items.map(({ name, line, verdict: own, reason }, index) => (
                      <li key={index}>
                        <Mark verdict={own} /> <strong>{cardTitle({ name, line })}</strong>:{' '}
                        <span class="muted">{reason}</span>
                      </li>
                    ))}
                  </ul>
                </details>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
