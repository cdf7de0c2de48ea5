import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { GoldAction } from '../../../engine/core/domain/task.ts';
import { objectOf, readableEntries } from '../../../engine/core/values/json.ts';
import type { ShownTool, TaskContent } from '../../messages/editorMessages.ts';
import { emptyValue } from '../../models/schemaForm.ts';
import { Button } from '../../parts/controls.ts';
import { Choice } from '../fields.tsx';
import type { Edit } from '../frame.tsx';
import { JsonInput } from '../jsonInput.tsx';
import { SchemaForm } from '../schemaForm.tsx';

/** The calls that a right rollout makes, with a form for the arguments of each. */
export function Actions({ content, edit }: { readonly content: TaskContent; readonly edit: Edit }): JSX.Element {
  const { task, tools, undescribed } = content;
  const { actions } = task;
  return (
    <section aria-labelledby="actions">
      <h2 id="actions">Gold actions</h2>
      <p class="muted">
        The calls of a correct rollout, in order. The gold seat makes them, and the reward compares the database with
        their result.
      </p>
      {undescribed !== null && <p class="muted">{undescribed}</p>}
      {actions.length === 0 && <p class="muted">None: the task changes nothing. Choose another verifier below.</p>}
      {actions.map((action, index) => (
        <Action key={`${index} ${action.tool}`} action={action} index={index} content={content} edit={edit} />
      ))}
      <AddAction tools={tools} count={actions.length} edit={edit} />
    </section>
  );
}

type ActionProps = {
  readonly action: GoldAction;
  readonly index: number;
  readonly content: TaskContent;
  readonly edit: Edit;
};

function Action({ action, index, content, edit }: ActionProps): JSX.Element {
  const { tools, misfits, task } = content;
  const [asJson, setAsJson] = useState(false);
  const [isOpen, setIsOpen] = useState(false);
  const tool = tools.find(({ name }) => name === action.tool);
  const path = ['actions', index, 'arguments'];
  const own = misfits.flatMap(({ path: [at, ...rest], message }) => (at === index ? [{ path: rest, message }] : []));
  const isMisfit = own.length > 0;
  // What does not fit is shown; it is not hidden again while it is being fixed.
  useEffect(() => {
    if (isMisfit) setIsOpen(true);
  }, [isMisfit]);
  const swap = (to: number): void => {
    const list = [...task.actions];
    [list[index], list[to]] = [list[to] as GoldAction, list[index] as GoldAction];
    edit.set(['actions'], JSON.parse(JSON.stringify(withoutDefaults(list))));
  };
  return (
    <details class="card action" open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        {index + 1}. <strong>{action.tool}</strong>
        {action.by === 'user' && ' by the user'} <span class="muted">{readableEntries(action.arguments)}</span>
        {own.length > 0 && <span class="field-problem"> ✕ {own.map(({ message }) => message).join(' ')}</span>}
      </summary>
      <div class="inside">
        <Choice
          label="Tool"
          value={action.tool}
          options={tools.map(({ name, owner }) => ({
            value: name,
            label: owner === 'user' ? `${name} (the user's)` : name,
          }))}
          problem={tool || tools.length === 0 ? undefined : `there is no tool ${action.tool}`}
          onCommit={(name) => edit.set(['actions', index], begunCall(tools.find((each) => each.name === name)))}
        />
        {tool?.parameters && !asJson ? (
          <SchemaForm
            schema={tool.parameters}
            value={action.arguments}
            misfits={own}
            target={{
              set: (below, value) => edit.set([...path, ...below], value),
              remove: (below) => edit.remove([...path, ...below]),
            }}
          />
        ) : (
          <JsonInput
            label="Arguments as JSON"
            path={path}
            value={action.arguments}
            problem={own.map(({ message }) => message).join(' ') || undefined}
            onCommit={(value) => edit.set(path, value ?? {})}
          />
        )}
        <div class="actions">
          {tool?.parameters && (
            <Button
              label={`Show action ${index + 1} as ${asJson ? 'form' : 'JSON'}`}
              onPress={() => setAsJson(!asJson)}
            >
              {asJson ? `Show action ${index + 1} as form` : `Show action ${index + 1} as JSON`}
            </Button>
          )}
          <Button disabled={index === 0} label={`Move up action ${index + 1}`} onPress={() => swap(index - 1)}>
            Move Up
          </Button>
          <Button
            disabled={index === task.actions.length - 1}
            label={`Move down action ${index + 1}`}
            onPress={() => swap(index + 1)}
          >
            Move Down
          </Button>
          <Button label={`Remove action ${index + 1}`} onPress={() => edit.remove(['actions', index])}>
            Remove
          </Button>
        </div>
      </div>
    </details>
  );
}

/** Returns actions as a person writes them: without `by` unless it is the user. */
function withoutDefaults(list: readonly GoldAction[]) {
  return list.map(({ by, ...action }) => (by === 'user' ? { ...action, by } : action));
}

/** A call as it is begun: what is required and can't be otherwise is there. */
function begunCall(tool: ShownTool | undefined) {
  const schema = tool?.parameters ?? {};
  return {
    tool: tool?.name ?? '',
    ...(tool?.owner === 'user' ? { by: 'user' } : {}),
    arguments: objectOf(emptyValue(schema, schema)),
  };
}

function AddAction({
  tools,
  count,
  edit,
}: {
  readonly tools: readonly ShownTool[];
  readonly count: number;
  readonly edit: Edit;
}): JSX.Element {
  const [chosen, setChosen] = useState('');
  const add = (): void => {
    edit.insert(['actions', count], begunCall(tools.find(({ name }) => name === chosen)));
    setChosen('');
  };
  return (
    <div class="with-remove">
      <Choice
        label="Another action"
        value={chosen}
        options={[{ value: '', label: '(choose a tool)' }, ...tools.map(({ name }) => ({ value: name, label: name }))]}
        onCommit={setChosen}
      />
      <Button disabled={chosen === ''} onPress={add}>
        Add Action
      </Button>
    </div>
  );
}
