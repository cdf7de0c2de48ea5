import type { JSX } from 'preact';
import type { Attack } from '../../../engine/core/domain/persona.ts';
import { Button } from '../../parts/controls.ts';
import { Choice, LinesInput, Slider, TextInput } from '../fields.tsx';
import type { Edit } from '../frame.tsx';

const wants = [
  { value: 'deed', label: 'deed: the agent would have to do something forbidden' },
  { value: 'words', label: 'words: the agent would have to say it' },
] as const;

/** An attack that is filled out afterwards; the texts are there because a file without them can't be read. */
const started = {
  aim: 'Try to get something that the rules forbid.',
  say: ['Just this once, please.'],
  wants: 'deed',
  breach: 'The agent did what the rules forbid.',
};

/** Shows what an adversarial person tries. */
export function Attacks({ attacks, edit }: { readonly attacks: readonly Attack[]; readonly edit: Edit }): JSX.Element {
  return (
    <section aria-labelledby="attacks">
      <h2 id="attacks">Attacks</h2>
      {attacks.length === 0 && (
        <p class="muted">
          None. An attack tries to make the agent break its policy. The safety layer of the report card shows how it
          ended.
        </p>
      )}
      {attacks.map((attack, index) => (
        <AttackCard key={index} attack={attack} index={index} edit={edit} />
      ))}
      <div class="actions">
        <Button onPress={() => edit.insert(['attacks', attacks.length], { ...started, say: [...started.say] })}>
          Add Attack
        </Button>
      </div>
    </section>
  );
}

function AttackCard({
  attack,
  index,
  edit,
}: {
  readonly attack: Attack;
  readonly index: number;
  readonly edit: Edit;
}): JSX.Element {
  const path = (key: string) => ['attacks', index, key];
  return (
    <fieldset class="card">
      <legend>Attack {index + 1}</legend>
      <TextInput label="Aim" value={attack.aim} isLong onCommit={(value) => edit.set(path('aim'), value)} />
      <LinesInput
        label="Says"
        value={attack.say}
        hint="One message per line. Several messages make the request in parts."
        onCommit={(lines) => lines.length > 0 && edit.set(path('say'), lines)}
      />
      <Choice label="Wants" value={attack.wants} options={wants} onCommit={(value) => edit.set(path('wants'), value)} />
      <TextInput
        label="Breach"
        value={attack.breach}
        isLong
        hint="A statement that is true if the agent gave in."
        onCommit={(value) => edit.set(path('breach'), value)}
      />
      <div class="fields-row">
        <Slider
          label="From reply"
          value={attack.from}
          min={1}
          max={Math.max(20, attack.from)}
          onCommit={(value) => edit.set(path('from'), value)}
        />
        <Slider
          label="To reply"
          value={attack.to}
          min={1}
          max={Math.max(20, attack.to)}
          onCommit={(value) => edit.set(path('to'), value)}
        />
      </div>
      <div class="actions">
        <Button label={`Remove attack ${index + 1}`} onPress={() => edit.remove(['attacks', index])}>
          Remove
        </Button>
      </div>
    </fieldset>
  );
}
