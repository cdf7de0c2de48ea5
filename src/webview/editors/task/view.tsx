import type { JSX } from 'preact';
import type { TaskContent } from '../../messages/editorMessages.ts';
import type { Bridge } from '../../parts/bridge.ts';
import { Choice, TextInput } from '../fields.tsx';
import { type Edit, EditorFrame, editAt } from '../frame.tsx';
import { Actions } from './actions.tsx';
import { Demands } from './demands.tsx';
import { KnownFacts, StateChanges, UnknownFacts } from './facts.tsx';
import { PlayGold } from './playGold.tsx';

/** One problem: what the user wants and knows, where the world is, and what counts as done. */
export function TaskEditor({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  return (
    <EditorFrame<TaskContent> title="Task" noun="task" editor="task" bridge={bridge}>
      {(content, { ask, ran, shown }) => {
        const edit = editAt(ask, content.base);
        return (
          <>
            <PlayGold
              ran={ran}
              ask={ask}
              isTrusted={shown.isTrusted}
              taskId={content.task.id}
              isFit={shown.errors.length === 0}
              isEarlier={shown.isRunEarlier}
            />
            <div class="form-columns">
              <Scenario content={content} edit={edit} />
              <section aria-labelledby="facts">
                <h2 id="facts">What the user knows</h2>
                <KnownFacts known={content.task.user.known} path={['user', 'known']} edit={edit} />
                <UnknownFacts unknown={content.task.user.unknown} edit={edit} />
              </section>
            </div>
            <Actions content={content} edit={edit} />
            <div class="form-columns">
              <StateChanges state={content.task.state} edit={edit} />
              <Demands task={content.task} edit={edit} />
            </div>
            {content.others.length > 0 && (
              <p class="muted">Not in this form, and kept unchanged: {content.others.join(', ')}. Edit them as text.</p>
            )}
          </>
        );
      }}
    </EditorFrame>
  );
}

const splits = [
  { value: 'train', label: 'train' },
  { value: 'test', label: 'test' },
] as const;

function Scenario({
  content: { task, personas },
  edit,
}: {
  readonly content: TaskContent;
  readonly edit: Edit;
}): JSX.Element {
  const { user } = task;
  const optional = (path: string[], value: string): void => {
    if (value.trim() === '') edit.remove(path);
    else edit.set(path, value);
  };
  const people = personas.map((id) => ({ value: id, label: id }));
  return (
    <section aria-labelledby="scenario">
      <h2 id="scenario">Scenario</h2>
      <TextInput label="Id" path={['id']} value={task.id} isCode onCommit={(value) => edit.set(['id'], value)} />
      <TextInput
        label="Description"
        path={['description']}
        value={task.description ?? ''}
        isLong
        hint="For people: what this task is about and what it tests."
        onCommit={(value) => optional(['description'], value)}
      />
      <div class="fields-row">
        <Choice
          label="Persona"
          path={['persona']}
          value={task.persona}
          options={people}
          onCommit={(value) => edit.set(['persona'], value)}
        />
        <Choice label="Split" value={task.split} options={splits} onCommit={(value) => edit.set(['split'], value)} />
      </div>
      <TextInput
        label="Goal"
        path={['user', 'goal']}
        value={user.goal}
        isLong
        hint={'What the user wants, written in the second person: "You want to return your lamp."'}
        onCommit={(value) => edit.set(['user', 'goal'], value)}
      />
      <TextInput
        label="Opening (optional)"
        path={['user', 'opening']}
        value={user.opening ?? ''}
        isLong
        hint={
          'The user\'s first message. If it is empty, it is derived from the goal. A persona that "leaves out key information" shortens it only if it has all facts.'
        }
        onCommit={(value) => optional(['user', 'opening'], value)}
      />
      <TextInput
        label="Insists on (optional)"
        path={['user', 'insist', 'say']}
        value={user.insist?.say ?? ''}
        isLong
        hint={'What the user asks for although the policy forbids it, if the persona has the behavior "insists".'}
        onCommit={(value) =>
          value.trim() === '' ? edit.remove(['user', 'insist']) : edit.set(['user', 'insist', 'say'], value)
        }
      />
      <Change task={task} edit={edit} />
      <TextInput
        label="Now (optional)"
        path={['now']}
        value={task.now ?? ''}
        isCode
        hint="Date and time of the conversation, in ISO 8601. If it is empty, the date of the domain applies."
        onCommit={(value) => optional(['now'], value)}
      />
    </section>
  );
}

const whens = [
  { value: '', label: '(never)' },
  { value: 'proposed', label: 'after the first proposal' },
  { value: 'done', label: 'after the first completed request' },
] as const;

function Change({ task: { user }, edit }: { readonly task: TaskContent['task']; readonly edit: Edit }): JSX.Element {
  const { change } = user;
  const choose = (when: string): void => {
    if (when === '') edit.remove(['user', 'change']);
    else if (change) edit.set(['user', 'change', 'when'], when);
    else edit.set(['user', 'change'], { when, say: 'Something else would be better after all.', known: {} });
  };
  return (
    <>
      <Choice
        label="The request changes"
        value={change?.when ?? ''}
        options={whens}
        hint={'This happens if the persona has the behavior "changes".'}
        onCommit={choose}
      />
      {change && (
        <fieldset class="inner">
          <legend class="hidden-text">The change</legend>
          <TextInput
            label="Then says"
            path={['user', 'change', 'say']}
            value={change.say}
            isLong
            onCommit={(value) => edit.set(['user', 'change', 'say'], value)}
          />
          <KnownFacts known={change.known} path={['user', 'change', 'known']} edit={edit} />
        </fieldset>
      )}
    </>
  );
}
