import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type JsonObject, objectOf, readableEntries } from '../../../engine/core/values/json.ts';
import type { Ran, ToolContent } from '../../messages/editorMessages.ts';
import { emptyValue, type Misfit, withoutValue, withValue } from '../../models/schemaForm.ts';
import { changesOf } from '../../models/trajectory.ts';
import type { Bridge } from '../../parts/bridge.ts';
import { Changes } from '../../parts/changes.tsx';
import { Code } from '../../parts/code.tsx';
import { Button } from '../../parts/controls.ts';
import { Choice } from '../fields.tsx';
import type { Ask } from '../frame.tsx';
import { JsonInput } from '../jsonInput.tsx';
import { RunOutcome } from '../outcome.tsx';
import { afterPress } from '../press.ts';
import { SchemaForm } from '../schemaForm.tsx';

export type TryItProps = {
  readonly content: ToolContent;
  readonly bridge: Bridge;
  readonly ask: Ask;
  readonly ran: Ran | null;
  readonly isTrusted: boolean;
  /** Whether the text has changed since the last call. */
  readonly isEarlier: boolean;
};

/** The draft that is kept while the tab is not shown. */
type Kept = { readonly tool: string; readonly draft: JsonObject; readonly asJson: boolean; readonly task: string };

function keptDraft(bridge: Bridge, tool: string): Kept | null {
  const kept = bridge.loadState() as Partial<Kept> | null | undefined;
  return kept?.tool === tool && typeof kept.draft === 'object' ? (kept as Kept) : null;
}

/**
 * Calls the tool on a temporary database. The arguments are checked by the engine while they are written, and what does
 * not fit is not sent: neither by the button nor by the extension behind it.
 */
export function TryIt({ content, bridge, ask, ran, isTrusted, isEarlier }: TryItProps): JSX.Element {
  const { tool, examples, tasks, untriable } = content;
  // The same schema arrives again with every change of the domain.
  const schema = useMemo(() => tool.parameters ?? {}, [JSON.stringify(tool.parameters)]);
  const [kept] = useState(() => keptDraft(bridge, tool.name));
  const [draft, showDraft] = useState<JsonObject>(kept?.draft ?? objectOf(emptyValue(schema, schema)));
  // A press comes right behind the change that leaving the field makes, before it is drawn.
  const newest = useRef(draft);
  const [asJson, setAsJson] = useState(kept?.asJson ?? false);
  const [isJson, setIsJson] = useState(true);
  const [task, setTask] = useState(kept?.task ?? '');
  const about = { draft, schema };
  const of = task === '' ? null : task;
  const { misfits, isChecked, changeTo, submit, isAsked } = useCheckedCall(bridge, ask, about, of);
  const setDraft = (next: JsonObject): void => {
    newest.current = next;
    showDraft(next);
    changeTo(next);
  };
  useEffect(() => bridge.saveState({ tool: tool.name, draft, asJson, task }), [tool.name, draft, asJson, task]);
  const problem = isTrusted ? untriable : untrusted;
  const isBlocked = problem !== null || (ran?.isRunning ?? false);
  const shown = isAsked ? misfits : misfits.filter(({ message }) => !/is missing\.$/.test(message));
  if (tool.parameters === null)
    return (
      <section aria-labelledby="try-it">
        <h2 id="try-it">Try it</h2>
        <p class="warning-box">{problem}</p>
      </section>
    );
  return (
    <section aria-labelledby="try-it">
      <h2 id="try-it">Try it</h2>
      {problem !== null && <p class="warning-box">{problem}</p>}
      <div class="fields-row">
        <Choice
          label="Database of"
          value={task}
          options={[
            { value: '', label: 'the domain, unchanged' },
            ...tasks.map((id) => ({ value: id, label: `task ${id}` })),
          ]}
          onCommit={setTask}
        />
        {examples.length > 0 && (
          <Choice
            label="Fill in from"
            value=""
            options={[
              { value: '', label: '(an example call)' },
              ...examples.map(({ task: from, arguments: args }, index) => ({
                value: String(index),
                label: `${from}: ${JSON.stringify(args)}`.slice(0, 80),
              })),
            ]}
            onCommit={(index) => setDraft((examples[Number(index)]?.arguments ?? draft) as JsonObject)}
          />
        )}
      </div>
      {asJson ? (
        <JsonInput
          label="Arguments as JSON"
          value={draft}
          problem={shown.map(({ message }) => message).join(' ') || undefined}
          onRead={setIsJson}
          onCommit={(value) => setDraft(objectOf(value))}
        />
      ) : (
        <SchemaForm
          schema={schema}
          value={draft}
          misfits={shown}
          target={{
            set: (path, value) => setDraft(withValue(newest.current, path, value) as JsonObject),
            remove: (path) => setDraft(withoutValue(newest.current, path) as JsonObject),
          }}
        />
      )}
      <div class="actions">
        <Button primary disabled={isBlocked || !isJson} onPress={() => submit(newest.current)}>
          Call {tool.name}
        </Button>
        <Button disabled={!isJson} onPress={() => setAsJson(!asJson)}>
          {asJson ? 'Show as Form' : 'Show as JSON'}
        </Button>
      </div>
      {isAsked && isChecked && misfits.length > 0 && (
        <p class="field-problem" role="alert">
          Not called: {misfits.length === 1 ? 'one value is' : `${misfits.length} values are`} not valid.
        </p>
      )}
      {!isJson && (
        <p class="field-problem" role="alert">
          This is not JSON. Correct it to call the tool.
        </p>
      )}
      <RunOutcome ran={ran} type="called" ask={ask} isEarlier={isEarlier}>
        {({ isError, content: result, writes, arguments: args, task: start }) => (
          <div class="called">
            <p>
              <strong>{isError ? '✕ Error' : '✓ Result'}</strong>{' '}
              <span class="muted">
                {tool.name}({readableEntries(args)}) on the database of{' '}
                {start === null ? 'the domain' : `task ${start}`}
              </span>
            </p>
            <Code label={isError ? 'Error' : 'Result'} text={pretty(result)} whole />
            {writes.length > 0 ? (
              <Changes changes={changesOf(writes)} whole />
            ) : (
              <p class="muted">It changed nothing.</p>
            )}
          </div>
        )}
      </RunOutcome>
    </section>
  );
}

const untrusted =
  'The tools of a domain are programs, and this workspace is not trusted. You can read this tool, but you cannot call it.';

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** A question about arguments, and the engine's word on them once it is there. */
type Question = { readonly number: number; readonly about: Asked; readonly misfits: readonly Misfit[] | null };
type Asked = { readonly draft: JsonObject; readonly schema: JsonObject };

/**
 * The engine's word on the arguments, asked for after each change. A press waits for the word on what is there then,
 * and sends exactly that.
 */
function useCheckedCall(bridge: Bridge, ask: Ask, about: Asked, task: string | null) {
  const [question, setQuestion] = useState<Question | null>(null);
  const [isAsked, setIsAsked] = useState(false);
  const [isChecked, setIsChecked] = useState(false);
  const latest = useRef<{ question: Question | null; wanted: number | null; task: string | null }>({
    question: null,
    wanted: null,
    task,
  });
  latest.current.task = task;
  const isNewest = (number: number) => latest.current.question?.number === number;
  const told = (next: Question): void => {
    latest.current.question = next;
    // What was wrong before stays to be seen until the engine has said what is wrong now.
    setQuestion((before) => (next.misfits === null ? { ...next, misfits: before?.misfits ?? null } : next));
    setIsChecked(next.misfits !== null);
    if (next.misfits === null || latest.current.wanted !== next.number) return;
    latest.current.wanted = null;
    const args = { ...next.about.draft };
    if (next.misfits.length === 0) ask({ type: 'call', arguments: args, task: latest.current.task });
  };
  useEffect(
    () =>
      bridge.receive((message) => {
        if (message.type !== 'editor' || message.message.type !== 'callChecked') return;
        const { question: number, misfits } = message.message;
        const open = latest.current.question;
        if (open?.number === number) afterPress(() => isNewest(number) && told({ ...open, misfits }));
      }),
    [bridge],
  );
  const check = ({ draft, schema }: Asked): Question => {
    const known = latest.current.question;
    if (known && known.about.draft === draft && known.about.schema === schema) return known;
    const next = { number: (known?.number ?? 0) + 1, about: { draft, schema }, misfits: null };
    told(next);
    ask({ type: 'checkCall', question: next.number, arguments: { ...draft } });
    return next;
  };
  useEffect(() => void check(about), [about.draft, about.schema]);
  const submit = (draft: JsonObject): void => {
    setIsAsked(true);
    const current = check({ ...about, draft });
    latest.current.wanted = current.number;
    told(current);
  };
  return {
    misfits: question?.misfits ?? [],
    isChecked,
    isAsked,
    /** The earlier request is no longer sent. */
    changeTo: (draft: JsonObject) => void check({ ...about, draft }),
    submit,
  };
}
