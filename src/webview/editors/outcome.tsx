import type { ComponentChildren, JSX } from 'preact';
import type { Ran } from '../messages/editorMessages.ts';
import { Button, ProgressRing } from '../parts/controls.ts';
import type { Ask } from './frame.tsx';

type Outcome = NonNullable<Ran['outcome']>;

export type OutcomeProps<Type extends Outcome['type']> = {
  readonly ran: Ran | null;
  readonly type: Type;
  readonly ask: Ask;
  /** Whether the text has changed since the run. */
  readonly isEarlier: boolean;
  readonly children: (outcome: Extract<Outcome, { type: Type }>) => ComponentChildren;
};

/** Shows the last run for an editor: its progress, its error or its result. */
export function RunOutcome<Type extends Outcome['type']>(props: OutcomeProps<Type>): JSX.Element | null {
  const { ran, type, ask, isEarlier, children } = props;
  if (!ran) return null;
  if (ran.isRunning)
    return (
      <div class="actions" role="status">
        <ProgressRing label="Running" /> <span>{ran.note || 'Running…'}</span>
        <Button onPress={() => ask({ type: 'stopRunning' })}>Cancel</Button>
      </div>
    );
  if (ran.problem !== null)
    return (
      <div class="error-box" role="alert">
        {ran.problem}
      </div>
    );
  if (ran.outcome?.type !== type) return null;
  return (
    <div class="outcome" role="status">
      {isEarlier && <p class="warning-box">This result is from an earlier text of the file. Run it again.</p>}
      {children(ran.outcome as Extract<Outcome, { type: Type }>)}
    </div>
  );
}
