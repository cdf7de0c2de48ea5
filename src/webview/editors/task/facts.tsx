import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Fact, Task } from '../../../engine/core/domain/task.ts';
import type { ValuePath } from '../../messages/editorMessages.ts';
import { factOfKind, pathFrom, pathText, typedFact } from '../../models/taskForm.ts';
import { Button } from '../../parts/controls.ts';
import { Choice, LinesInput, TextInput } from '../fields.tsx';
import type { Edit } from '../frame.tsx';
import { JsonInput } from '../jsonInput.tsx';

type Scalar = string | number | boolean;

const factValue = (fact: Fact): Scalar => (typeof fact === 'object' ? fact.value : fact);

const kinds = [
  { value: 'string', label: 'text' },
  { value: 'number', label: 'number' },
  { value: 'boolean', label: 'yes or no' },
] as const;

export type KnownFactsProps = {
  readonly known: Readonly<Record<string, Fact>>;
  readonly path: ValuePath;
  readonly edit: Edit;
};

/** The facts that the user gives when asked, by name. */
export function KnownFacts({ known, path, edit }: KnownFactsProps): JSX.Element {
  const names = Object.keys(known);
  return (
    <>
      {names.length === 0 && <p class="muted">No facts yet.</p>}
      {Object.entries(known).map(([name, fact]) => (
        <KnownFact key={name} name={name} fact={fact} path={[...path, name]} edit={edit} />
      ))}
      <AddNamed label="Another fact" taken={names} onAdd={(name) => edit.set([...path, name], '')} />
    </>
  );
}

function KnownFact({
  name,
  fact,
  path,
  edit,
}: {
  readonly name: string;
  readonly fact: Fact;
  readonly path: ValuePath;
  readonly edit: Edit;
}): JSX.Element {
  const value = factValue(fact);
  const valuePath = typeof fact === 'object' ? [...path, 'value'] : path;
  const say = typeof fact === 'object' ? (fact.say ?? '') : '';
  const setSay = (text: string): void => {
    if (text.trim() === '') edit.set(path, value);
    else if (typeof fact === 'object') edit.set([...path, 'say'], text);
    else edit.set(path, { value, say: text });
  };
  /** The kind that the value could not become, until the value is another one. */
  const [refused, setRefused] = useState<{ readonly kind: string; readonly value: Scalar } | null>(null);
  const needed = refused?.kind === 'number' ? 'a number' : 'true or false';
  const setKind = (kind: string): void => {
    const next = factOfKind(value, kind);
    setRefused(next === null ? { kind, value } : null);
    if (next !== null) edit.set(valuePath, next);
  };
  return (
    <fieldset class="card">
      <legend>{name}</legend>
      <div class="fields-row">
        <TextInput
          label="Value"
          path={valuePath}
          value={String(value)}
          onCommit={(typed) => edit.set(valuePath, typedFact(typed, value))}
        />
        <Choice
          label="Kind"
          value={typeof value}
          options={kinds}
          problem={refused?.value === value ? `"${value}" is not ${needed}. Change the value first.` : undefined}
          onCommit={setKind}
        />
        <TextInput
          label="Says it as"
          path={[...path, 'say']}
          value={say}
          placeholder={String(value)}
          onCommit={setSay}
        />
      </div>
      <div class="actions">
        <Button label={`Remove fact ${name}`} onPress={() => edit.remove(path)}>
          Remove
        </Button>
      </div>
    </fieldset>
  );
}

/** A name for something that is added. */
function AddNamed({
  label,
  taken,
  onAdd,
}: {
  readonly label: string;
  readonly taken: readonly string[];
  readonly onAdd: (name: string) => void;
}): JSX.Element {
  const [name, setName] = useState('');
  const isTaken = taken.includes(name);
  const add = (): void => {
    onAdd(name);
    setName('');
  };
  return (
    <div class="with-remove">
      <TextInput
        label={label}
        value={name}
        isCode
        placeholder="name"
        problem={isTaken ? `${name} already exists` : undefined}
        onCommit={setName}
      />
      <Button disabled={name.trim() === '' || isTaken} label={`Add: ${label}`} onPress={add}>
        Add
      </Button>
    </div>
  );
}

/** Names of facts that the user is sure not to know. */
export function UnknownFacts({
  unknown,
  edit,
}: {
  readonly unknown: readonly string[];
  readonly edit: Edit;
}): JSX.Element {
  const commit = (names: string[]): void => {
    if (names.length > 0) edit.set(['user', 'unknown'], names);
    else edit.remove(['user', 'unknown']);
  };
  return (
    <LinesInput
      label="Does not know"
      path={['user', 'unknown']}
      value={unknown}
      hint="Names of facts, one per line."
      onCommit={commit}
    />
  );
}

const sides = [
  { value: 'agent', label: "the agent's" },
  { value: 'user', label: "the user's" },
] as const;

/** Shows what differs from the database at the start. */
export function StateChanges({ state, edit }: { readonly state: Task['state']; readonly edit: Edit }): JSX.Element {
  return (
    <section aria-labelledby="state">
      <h2 id="state">Initial state</h2>
      {state.length === 0 && <p class="muted">The task starts with the unchanged database of the domain.</p>}
      {state.map((change, index) => (
        <StateChange key={index} change={change} index={index} edit={edit} />
      ))}
      <div class="actions">
        <Button onPress={() => edit.insert(['state', state.length], { path: ['table', 'row'], value: null })}>
          Add Change
        </Button>
      </div>
    </section>
  );
}

function StateChange({
  change: { side, path, value },
  index,
  edit,
}: {
  readonly change: Task['state'][number];
  readonly index: number;
  readonly edit: Edit;
}): JSX.Element {
  const [refused, setRefused] = useState<string | null>(null);
  const setPath = (text: string): void => {
    const read = pathFrom(text);
    setRefused(read ? null : text);
    if (read) edit.set(['state', index, 'path'], read);
  };
  return (
    <fieldset class="card">
      <legend>Change {index + 1}</legend>
      <div class="fields-row">
        <TextInput
          label="Path"
          path={['state', index, 'path']}
          value={refused ?? pathText(path)}
          isCode
          hint="For example orders.W1.status. If a key has a dot, write a JSON list of keys."
          problem={refused === null ? undefined : 'This is not a path. Write keys with dots between them.'}
          onCommit={setPath}
        />
        <Choice
          label="Database"
          value={side}
          options={sides}
          onCommit={(chosen) => edit.set(['state', index, 'side'], chosen)}
        />
      </div>
      <JsonInput
        label="Value"
        path={['state', index, 'value']}
        value={value}
        hint="JSON; null removes the entry."
        onCommit={(next) => next !== undefined && edit.set(['state', index, 'value'], next)}
      />
      <div class="actions">
        <Button label={`Remove change ${index + 1}`} onPress={() => edit.remove(['state', index])}>
          Remove
        </Button>
      </div>
    </fieldset>
  );
}
