import type { JSX } from 'preact';
import type { Persona } from '../../../engine/core/domain/persona.ts';
import type { PersonaContent } from '../../messages/editorMessages.ts';
import type { Bridge } from '../../parts/bridge.ts';
import { Choice, Slider, Switch, TextInput } from '../fields.tsx';
import { type Edit, EditorFrame, editAt } from '../frame.tsx';
import { Attacks } from './attacks.tsx';
import { Occasion } from './occasion.tsx';
import { Prompt } from './prompt.tsx';

/** Shows who a simulated user is and how it behaves. */
export function PersonaEditor({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  return (
    <EditorFrame<PersonaContent> title="Persona" noun="persona" editor="persona" bridge={bridge}>
      {(content, { ask, ran, shown }) => {
        const edit = editAt(ask, content.base);
        return (
          <div class="form-columns">
            <div class="stack">
              <Character persona={content.persona} edit={edit} />
              <Prompt
                content={content}
                ran={ran}
                isTrusted={shown.isTrusted}
                isEarlier={shown.isRunEarlier}
                ask={ask}
              />
            </div>
            <div class="stack">
              <Behaviours persona={content.persona} edit={edit} />
              <Attacks attacks={content.persona.attacks} edit={edit} />
            </div>
          </div>
        );
      }}
    </EditorFrame>
  );
}

type PartProps = { readonly persona: Persona; readonly edit: Edit };

const styles = [
  { value: 'plain', label: 'plain: plain sentences' },
  { value: 'brief', label: 'brief: a few words' },
  { value: 'chatty', label: 'chatty: friendly and talkative' },
  { value: 'formal', label: 'formal: polite and formal' },
] as const;

function Character({ persona: { id, description, style, patience }, edit }: PartProps): JSX.Element {
  return (
    <section aria-labelledby="character">
      <h2 id="character">Character</h2>
      <TextInput
        label="Id"
        path={['id']}
        value={id}
        isCode
        hint="Tasks refer to the persona by this id."
        onCommit={(value) => edit.set(['id'], value)}
      />
      <TextInput
        label="Description"
        path={['description']}
        value={description}
        isLong
        hint="Who this person is, in a sentence or two. A model that plays the user receives this text."
        onCommit={(value) => edit.set(['description'], value)}
      />
      <Choice
        label="Style"
        value={style}
        options={styles}
        hint="How long and how formally this person writes."
        onCommit={(value) => edit.set(['style'], value)}
      />
      <Slider
        label="Patience"
        value={patience}
        min={1}
        max={20}
        hint="Number of replies without progress before this person gives up."
        onCommit={(value) => edit.set(['patience'], value)}
      />
    </section>
  );
}

const hard = [
  [
    'omits',
    'Leaves out key information',
    'Omits it from the opening, and gives it only when asked. An opening of the task that already omits a fact stays as it is written.',
  ],
  ['changes', 'Changes the request midway', 'The task defines when and to what (user.change).'],
  [
    'insists',
    'Insists on what is forbidden',
    'Asks once more after a refusal. The task defines for what (user.insist).',
  ],
] as const;

const occasional = [
  ['interrupts', 'Interrupts', 'Interrupts with something else instead of answering.'],
  ['misunderstands', 'Misunderstands', 'Misunderstands what the agent proposes or asks.'],
  ['contradicts', 'Contradicts itself', 'Retracts an earlier statement, and later returns to it.'],
  ['getsUpset', 'Gets upset', 'Complains emotionally, in addition to its answer.'],
  ['evades', 'Evades', 'Does not answer a question the first time.'],
] as const;

function Behaviours({ persona: { behaviours }, edit }: PartProps): JSX.Element {
  return (
    <section aria-labelledby="behaviours">
      <h2 id="behaviours">Behaviors</h2>
      <h3>In every rollout</h3>
      {hard.map(([name, label, hint]) => (
        <Switch
          key={name}
          label={label}
          hint={hint}
          value={behaviours[name]}
          onCommit={(value) => edit.set(['behaviours', name], value)}
        />
      ))}
      <h3>Once in a rollout, at a moment that the seed determines</h3>
      {occasional.map(([name, label, hint]) => (
        <Occasion
          key={name}
          label={label}
          hint={hint}
          value={behaviours[name]}
          onCommit={(value) => edit.set(['behaviours', name], value)}
        />
      ))}
    </section>
  );
}
