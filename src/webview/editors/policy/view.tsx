import type { JSX } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { times } from '../../../engine/core/text/counted.ts';
import type { PolicyContent, RuleCard } from '../../messages/editorMessages.ts';
import type { Bridge } from '../../parts/bridge.ts';
import { Button } from '../../parts/controls.ts';
import { Link } from '../../parts/link.tsx';
import { Refusal, TextInput } from '../fields.tsx';
import { type Ask, EditorFrame } from '../frame.tsx';

/** The rules of a policy as cards: what they say, what checks them, who tries them, and how that came out. */
export function PolicyEditor({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  /** The line of the section that a rule was added to, and the number of its rules before. */
  const added = useRef<{ readonly line: number; readonly rules: number } | null>(null);
  return (
    <EditorFrame<PolicyContent> title="Policy" noun="policy" editor="policy" bridge={bridge}>
      {({ sections, problems, hasDomain }, { ask }) => (
        <>
          <Summary sections={sections} hasDomain={hasDomain} />
          {problems.map(({ message, line }) => (
            <div class="warning-box" key={line}>
              Line {line}: {message}{' '}
              <Link label={`Show line ${line} in the text`} onPress={() => ask({ type: 'openLine', line })}>
                Show line {line} in the text
              </Link>
            </div>
          ))}
          {sections.map(({ title, line, notes, rules }) => (
            <section key={line} aria-label={title ?? 'Before the first heading'}>
              <h2>{title ?? 'Before the first heading'}</h2>
              {notes.map((note) => (
                <p class="muted" key={note.line}>
                  {note.text}
                </p>
              ))}
              {rules.map((rule) => (
                <Rule
                  key={rule.line}
                  rule={rule}
                  items={rules.filter(({ isHeading }) => !isHeading)}
                  isNew={
                    rule === rules.at(-1) && added.current?.line === line && added.current.rules === rules.length - 1
                  }
                  onEntered={() => {
                    added.current = null;
                  }}
                  ask={ask}
                  openTask={(name) => bridge.post({ type: 'openPlace', kind: 'task', name })}
                />
              ))}
              <AddRule
                key={`${line} ${rules.length}`}
                section={title}
                line={line}
                ask={ask}
                onAdd={() => {
                  added.current = { line, rules: rules.length };
                }}
              />
            </section>
          ))}
          {sections.length === 0 && (
            <section aria-label="The first rule">
              <AddRule
                section={null}
                line={1}
                ask={ask}
                onAdd={() => {
                  added.current = { line: 1, rules: 0 };
                }}
              />
            </section>
          )}
        </>
      )}
    </EditorFrame>
  );
}

function Summary({ sections, hasDomain }: Pick<PolicyContent, 'sections' | 'hasDomain'>): JSX.Element {
  const rules = sections.flatMap((section) => section.rules);
  if (rules.length === 0)
    return (
      <p class="muted">
        No rule yet. A list item or a heading with an id mark such as {'{#confirm-first}'} at its end is a rule. Add one
        below, or write it in the text.
      </p>
    );
  const checked = rules.filter(({ checks }) => checks.length > 0).length;
  const violated = rules.filter(({ result }) => (result?.violated ?? 0) > 0).length;
  return (
    <p class="muted" role="status">
      {rules.length} rules, {checked} with a check
      {violated > 0 ? `, ${violated} violated in the last run` : ''}.
      {!hasDomain && ' This file is not the policy of a domain, so there are no checks and no tasks to show.'}
    </p>
  );
}

type RuleProps = {
  readonly rule: RuleCard;
  /** The list items of its section, in order. */
  readonly items: readonly RuleCard[];
  /** Whether it was just added in this form. */
  readonly isNew: boolean;
  readonly onEntered: () => void;
  readonly ask: Ask;
  readonly openTask: (task: string) => void;
};

/** Scrolls to an element when it appears, and puts the cursor into its first field. */
function useEntered<Part extends HTMLElement>(isEntered: boolean, onEntered?: () => void) {
  const part = useRef<Part>(null);
  useLayoutEffect(() => {
    if (!isEntered) return;
    part.current?.querySelector<HTMLElement>('textarea, input')?.focus({ preventScroll: true });
    part.current?.scrollIntoView({ block: 'nearest' });
    onEntered?.();
  }, [isEntered]);
  return part;
}

function Rule({ rule, items, isNew, onEntered, ask, openTask }: RuleProps): JSX.Element {
  const { id, line, text, plain } = rule;
  const card = useEntered<HTMLElement>(isNew, onEntered);
  return (
    <article ref={card} class="card" aria-label={id === null ? `Rule on line ${line}` : `Rule ${id}`}>
      <div class="title-row">
        <h3>{id ?? 'No id'}</h3>
        <span class="spacer" />
        <Link label={`Show line ${line} in the text`} onPress={() => ask({ type: 'openLine', line })}>
          line {line}
        </Link>
      </div>
      {text === null ? (
        <p>{plain}</p>
      ) : (
        <TextInput label="Text" value={text} isLong onCommit={(value) => ask({ type: 'setRule', line, text: value })} />
      )}
      {id === null && (
        <TextInput
          label="Id"
          value=""
          isCode
          placeholder="confirm-first"
          hint="Letters, digits and dashes. Checks in rules.yaml refer to the rule by this id. The agent never sees it."
          onCommit={(value) => ask({ type: 'markRule', line, id: value.trim() })}
        />
      )}
      <Checks rule={rule} ask={ask} />
      <Tries rule={rule} openTask={openTask} />
      <Result rule={rule} ask={ask} />
      {!rule.isHeading && <RuleLocation rule={rule} items={items} ask={ask} />}
    </article>
  );
}

/** Why the last press of a button changed nothing, and the button's press that remembers when it was. */
function useRefusedPress(): readonly [string | null, (act: () => void) => void] {
  const refusal = useContext(Refusal);
  const [pressedAt, setPressedAt] = useState<number | null>(null);
  const number = refusal?.number ?? 0;
  const press = (act: () => void): void => {
    setPressedAt(number);
    act();
  };
  return [pressedAt !== null && refusal && number > pressedAt ? refusal.reason : null, press];
}

/** Moves a rule among the list items of its section, or takes it out. */
function RuleLocation({ rule: { id, line }, items, ask }: Pick<RuleProps, 'rule' | 'items' | 'ask'>): JSX.Element {
  const [refused, press] = useRefusedPress();
  const name = id === null ? `the rule on line ${line}` : `rule ${id}`;
  const move = (direction: 'up' | 'down') => () => press(() => ask({ type: 'moveRule', line, direction }));
  return (
    <>
      <div class="actions">
        <Button disabled={items[0]?.line === line} label={`Move up ${name}`} onPress={move('up')}>
          Move Up
        </Button>
        <Button disabled={items.at(-1)?.line === line} label={`Move down ${name}`} onPress={move('down')}>
          Move Down
        </Button>
        <Button label={`Remove ${name}`} onPress={() => press(() => ask({ type: 'removeRule', line }))}>
          Remove
        </Button>
      </div>
      <NotWritten reason={refused} />
    </>
  );
}

function NotWritten({ reason }: { readonly reason: string | null }): JSX.Element | null {
  if (reason === null) return null;
  return (
    <p class="field-problem" role="alert">
      <span aria-hidden="true">✕</span> Not written to the file: {reason}.
    </p>
  );
}

type AddRuleProps = {
  readonly section: string | null;
  readonly line: number;
  readonly ask: Ask;
  readonly onAdd: () => void;
};

/** Writes a new rule as the last one of a section. */
function AddRule({ section, line, ask, onAdd }: AddRuleProps): JSX.Element {
  const [isOpen, setIsOpen] = useState(false);
  const form = useEntered<HTMLFieldSetElement>(isOpen);
  const [text, setText] = useState('');
  const [id, setId] = useState('');
  const [refused, press] = useRefusedPress();
  const where = section ?? 'the policy';
  const opener = useRef<HTMLDivElement>(null);
  const isCancelled = useRef(false);
  useLayoutEffect(() => {
    if (isCancelled.current) opener.current?.querySelector<HTMLElement>('vscode-button')?.focus();
    isCancelled.current = false;
  }, [isOpen]);
  const cancel = (): void => {
    isCancelled.current = true;
    setIsOpen(false);
  };
  if (!isOpen)
    return (
      <div ref={opener} class="actions">
        <Button label={`Add Rule to ${where}`} onPress={() => setIsOpen(true)}>
          Add Rule
        </Button>
      </div>
    );
  const add = (typed = id): void => {
    if (text.trim() === '') return;
    press(() => {
      onAdd();
      ask({ type: 'addRule', section: line, text, id: typed.trim() });
    });
  };
  return (
    <fieldset
      ref={form}
      class="card"
      aria-label={`New rule of ${where}`}
      onKeyDown={({ key }) => key === 'Escape' && cancel()}
    >
      <TextInput label="What the agent has to do" value={text} isLong onCommit={setText} />
      <TextInput
        label="Id (optional)"
        value={id}
        isCode
        placeholder="confirm-first"
        hint="A check in rules.yaml refers to the rule by this id. The agent never sees it."
        onCommit={setId}
        onEnter={(typed) => add(typed)}
      />
      <div class="actions">
        <Button primary disabled={text.trim() === ''} onPress={() => add()}>
          Add
        </Button>
        <Button onPress={cancel}>Cancel</Button>
      </div>
      <NotWritten reason={refused} />
    </fieldset>
  );
}

function Checks({ rule: { id, checks }, ask }: Pick<RuleProps, 'rule' | 'ask'>): JSX.Element | null {
  if (checks.length === 0)
    return id === null ? null : (
      <p class="muted">
        No check, so nothing decides whether the agent follows this rule.{' '}
        <Link label={`Add one in rules.yaml: a check of ${id}`} onPress={() => ask({ type: 'openRules' })}>
          Add one in rules.yaml
        </Link>
        .
      </p>
    );
  return (
    <div>
      <span class="label">Checked by</span>
      <ul class="plain-list">
        {checks.map(({ index, check, gate, layer, file, line, says }) => (
          <li key={index} class="one">
            <details>
              <summary>
                <strong>{check}</strong>
                {gate && ' · a violation makes the reward 0'}
                {layer && ` · ${layer}`}
              </summary>
              <pre>{says || 'no options'}</pre>
            </details>
            <Link label={`Open check ${check} at ${file}:${line}`} onPress={() => ask({ type: 'openCheck', index })}>
              {file}:{line}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Tries({
  rule: { checks, tasks, taskCount, isAlwaysTried },
  openTask,
}: Pick<RuleProps, 'rule' | 'openTask'>): JSX.Element | null {
  if (checks.length === 0) return null;
  if (taskCount === 0)
    return (
      <p class="muted">
        {isAlwaysTried
          ? 'Every task exercises it.'
          : 'No task exercises it: write one in which an agent could break it.'}
      </p>
    );
  return (
    <p>
      <span class="label">{isAlwaysTried ? 'Every task, and especially' : 'Exercised by'}</span>{' '}
      {tasks.map((task, index) => (
        <span key={task}>
          {index > 0 && ', '}
          <Link label={`Open task ${task}`} onPress={() => openTask(task)}>
            {task}
          </Link>
        </span>
      ))}
      {taskCount > tasks.length && <span class="muted"> and {taskCount - tasks.length} more</span>}
    </p>
  );
}

function Result({ rule: { id, checks, result }, ask }: Pick<RuleProps, 'rule' | 'ask'>): JSX.Element | null {
  if (id === null || checks.length === 0) return null;
  if (!result) return <p class="muted">No run has exercised it yet.</p>;
  const { held, violated, unknown, recording } = result;
  return (
    <p class={violated > 0 ? 'result bad' : 'result'}>
      <span aria-hidden="true">{violated > 0 ? '✕' : unknown > 0 ? '?' : '✓'}</span> Last run: violated{' '}
      {times(violated)}, held {times(held)}
      {unknown > 0 ? `, no verdict ${times(unknown)}` : ''}.{' '}
      <Button
        label={`${violated > 0 ? 'Open the First Violation' : 'Open Recording'}, ${recording}`}
        onPress={() => ask({ type: 'openRuleRecording', rule: id })}
      >
        {violated > 0 ? 'Open the First Violation' : 'Open Recording'}
      </Button>
    </p>
  );
}
