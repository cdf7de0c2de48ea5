import type { JSX } from 'preact';
import type { Assertion, Task, VerifierName } from '../../../engine/core/domain/task.ts';
import type { Json } from '../../../engine/core/values/json.ts';
import { Button } from '../../parts/controls.ts';
import { Choice, LinesInput, Switch, TextInput } from '../fields.tsx';
import type { Edit } from '../frame.tsx';
import { JsonInput } from '../jsonInput.tsx';

/** Verifiers that decide your own task; the others come with imported benchmarks, in the text. */
const verifiers: readonly (readonly [VerifierName, string])[] = [
  ['database', 'The database is the same as after the gold actions.'],
  ['assertions', 'The assertions above hold.'],
  ['communicate', 'The agent said all required texts.'],
  ['receipts', 'Calls that must have succeeded did, and others did not.'],
  ['judge', 'A judge model finds the statements true.'],
  ['custom', 'The custom verifiers in verifiers.ts hold.'],
];

/** Shows what counts as done. */
export function Demands({ task, edit }: { readonly task: Task; readonly edit: Edit }): JSX.Element {
  const commit = (lines: string[]): void => {
    if (lines.length > 0) edit.set(['communicate'], lines);
    else edit.remove(['communicate']);
  };
  return (
    <section aria-labelledby="demands">
      <h2 id="demands">Success criteria</h2>
      <LinesInput
        label="Required texts"
        path={['communicate']}
        value={task.communicate}
        hint="Texts that the agent must say to the user, one per line."
        onCommit={commit}
      />
      <h3>Assertions</h3>
      {task.assertions.length === 0 && <p class="muted">None.</p>}
      {task.assertions.map((assertion, index) => (
        <AssertionCard key={index} assertion={assertion} index={index} edit={edit} />
      ))}
      <div class="actions">
        <Button
          onPress={() => edit.insert(['assertions', task.assertions.length], { path: 'table.row', exists: true })}
        >
          Add Assertion
        </Button>
      </div>
      <Basis title="The reward of an evaluation" name="evaluate" chosen={task.evaluate} edit={edit} />
      <Basis title="The reward in training" name="train" chosen={task.train} edit={edit} />
    </section>
  );
}

function Basis({
  title,
  name,
  chosen,
  edit,
}: {
  readonly title: string;
  readonly name: 'evaluate' | 'train';
  readonly chosen: readonly VerifierName[];
  readonly edit: Edit;
}): JSX.Element {
  const others = chosen.filter((each) => !verifiers.some(([own]) => own === each));
  const toggle = (verifier: VerifierName, isChosen: boolean): void => {
    const next = isChosen ? [...chosen, verifier] : chosen.filter((each) => each !== verifier);
    edit.set([name], [...next]);
  };
  return (
    <fieldset class="card">
      <legend>{title}</legend>
      {verifiers.map(([verifier, hint]) => (
        <Switch
          key={verifier}
          label={verifier}
          hint={hint}
          value={chosen.includes(verifier)}
          isDisabled={chosen.length === 1 && chosen[0] === verifier}
          onCommit={(isChosen) => toggle(verifier, isChosen)}
        />
      ))}
      {others.length > 0 && <p class="muted">Also {others.join(', ')}, from the benchmark that the task comes from.</p>}
    </fieldset>
  );
}

const demands = [
  { value: 'equals', label: 'equals' },
  { value: 'contains', label: 'contains' },
  { value: 'exists', label: 'exists' },
  { value: 'absent', label: 'does not exist' },
] as const;

function demandOf({ equals, contains, exists }: Assertion): string {
  if (equals !== undefined) return 'equals';
  if (contains !== undefined) return 'contains';
  return exists === false ? 'absent' : 'exists';
}

function AssertionCard({
  assertion,
  index,
  edit,
}: {
  readonly assertion: Assertion;
  readonly index: number;
  readonly edit: Edit;
}): JSX.Element {
  const at = ['assertions', index];
  const { equals: _, contains: __, exists: ___, ...place } = assertion;
  const about = {
    ...(place.in === 'agent' ? {} : { in: place.in }),
    ...(place.path === undefined ? {} : { path: place.path }),
  };
  const choose = (demand: string): void => {
    const value: Record<string, Json> =
      demand === 'exists' ? { exists: true } : demand === 'absent' ? { exists: false } : { [demand]: '' };
    edit.set(at, { ...about, ...value });
  };
  const demand = demandOf(assertion);
  const isExpression = assertion.that !== undefined || assertion.call !== undefined;
  return (
    <fieldset class="card">
      <legend>Assertion {index + 1}</legend>
      <TextInput
        label="In"
        path={[...at, 'in']}
        value={assertion.in}
        isCode
        hint="agent, user, or a tool source."
        onCommit={(value) => edit.set([...at, 'in'], value)}
      />
      {isExpression ? (
        <TextInput
          label="Expression that must hold"
          path={[...at, 'that']}
          value={assertion.that ?? ''}
          isLong
          isCode
          onCommit={(value) => edit.set([...at, 'that'], value)}
        />
      ) : (
        <>
          <TextInput
            label="Path"
            path={[...at, 'path']}
            value={assertion.path ?? ''}
            isCode
            hint="Keys with dots between them, and [index] or [field=value]: orders.W1.status"
            onCommit={(value) => edit.set([...at, 'path'], value)}
          />
          <Choice label="Condition" value={demand} options={demands} onCommit={choose} />
          {(demand === 'equals' || demand === 'contains') && (
            <JsonInput
              label="Value"
              path={[...at, demand]}
              value={(demand === 'equals' ? assertion.equals : assertion.contains) as Json}
              hint="JSON: put text in quotes."
              onCommit={(value) => value !== undefined && edit.set([...at, demand], value)}
            />
          )}
        </>
      )}
      <div class="actions">
        <Button label={`Remove assertion ${index + 1}`} onPress={() => edit.remove(at)}>
          Remove
        </Button>
      </div>
    </fieldset>
  );
}
