import type { JSX } from 'preact';
import type { PersonaContent, Ran } from '../../messages/editorMessages.ts';
import { Button } from '../../parts/controls.ts';
import { Choice } from '../fields.tsx';
import type { Ask } from '../frame.tsx';
import { RunOutcome } from '../outcome.tsx';

export type PromptProps = {
  readonly content: PersonaContent;
  readonly ran: Ran | null;
  readonly isTrusted: boolean;
  /** Whether the text has changed since the last run. */
  readonly isEarlier: boolean;
  readonly ask: Ask;
};

/** Shows what a model learns that plays this person, and how it speaks. */
export function Prompt({ content, ran, isTrusted, isEarlier, ask }: PromptProps): JSX.Element {
  const { tasks, own, task, prompt, model } = content;
  if (task === null || prompt === null)
    return (
      <section aria-labelledby="prompt">
        <h2 id="prompt">Prompt and preview</h2>
        <p class="muted">
          There are no tasks yet. Add one to the tasks folder of the domain to see the prompt of this persona here.
        </p>
      </section>
    );
  const isRunning = ran?.isRunning ?? false;
  const options = tasks.map((id, index) => ({ value: id, label: index < own ? id : `${id} (another persona's)` }));
  return (
    <section aria-labelledby="prompt">
      <h2 id="prompt">Prompt and preview</h2>
      <Choice
        label="Task"
        value={task}
        options={options}
        hint={
          own === 0 ? 'No task uses this persona yet. The prompt is shown for the task of another persona.' : undefined
        }
        onCommit={(value) => ask({ type: 'chooseTask', task: value })}
      />
      <div class="actions">
        <Button primary disabled={isRunning || !isTrusted} onPress={() => ask({ type: 'preview', withModel: false })}>
          Preview First Messages
        </Button>
        {model !== null && (
          <Button disabled={isRunning || !isTrusted} onPress={() => ask({ type: 'preview', withModel: true })}>
            Preview with {model}
          </Button>
        )}
      </div>
      {!isTrusted && (
        <p class="muted">
          A preview plays a rollout, and the tools of a domain are programs: it needs a trusted workspace.
        </p>
      )}
      <RunOutcome ran={ran} type="previewed" ask={ask} isEarlier={isEarlier}>
        {(outcome) => <Preview outcome={outcome} />}
      </RunOutcome>
      <details>
        <summary>The exact prompt of the first message</summary>
        <pre>{prompt}</pre>
      </details>
    </section>
  );
}

const names = { user: 'User', agent: 'Agent', note: '' } as const;

type Previewed = Extract<NonNullable<Ran['outcome']>, { type: 'previewed' }>;

function Preview({ outcome: { messages, agent, user, task } }: { readonly outcome: Previewed }): JSX.Element {
  return (
    <>
      <p class="muted">
        {task}, with {user === 'agenda' ? 'the agenda user' : user} and{' '}
        {agent === 'as recorded' ? "the agent's recorded messages" : agent}
      </p>
      <ol class="spoken" aria-label="Preview">
        {messages.map(({ who, text }, index) => (
          <li key={index} class={who}>
            {names[who] && <span class="who">{names[who]}</span>}
            {text}
          </li>
        ))}
      </ol>
    </>
  );
}
