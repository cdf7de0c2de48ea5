import type { JSX } from 'preact';
import type { ToExtension } from '../messages/protocol.ts';
import type { Recording } from '../models/recording.ts';
import { headingOf } from '../models/trajectory.ts';
import { Button } from '../parts/controls.ts';
import { Link } from '../parts/link.tsx';
import type { Actions } from './actions.ts';

/** Shows what the recording is of, how it ended, and what can be done with all of it. */
export function Top({
  recording,
  post,
  actions,
}: {
  readonly recording: Recording;
  readonly post: (message: ToExtension) => void;
  readonly actions: Actions;
}): JSX.Element {
  const { name, trajectory, problem } = recording;
  const heading = headingOf(trajectory);
  return (
    <header class="top">
      <div class="title-row">
        <h1>
          {heading ? (
            <Link label={`Open task ${heading.task}`} onPress={() => actions.openPlace('task', heading.task)}>
              {heading.task}
            </Link>
          ) : (
            name
          )}
        </h1>
        <span class="spacer" />
        <Button primary onPress={() => post({ type: 'debugRecording' })}>
          Debug This Recording
        </Button>
        <Button onPress={() => post({ type: 'openAsText' })}>Open as Text</Button>
      </div>
      {heading && <p class="muted facts">{heading.facts.join(' · ')}</p>}
      {heading?.forkOf && <p class="muted">{heading.forkOf}</p>}
      {heading?.reward && (
        <p class={`verdict-box ${heading.reward.value === 1 ? 'good' : heading.reward.isNobodys ? 'plain' : 'bad'}`}>
          <strong>{heading.reward.value === null ? 'No reward' : `Reward ${heading.reward.value}`}</strong>{' '}
          {heading.reward.reason}
        </p>
      )}
      {problem !== null && (
        <p class="warning-box" role="alert">
          {problem}
        </p>
      )}
    </header>
  );
}
