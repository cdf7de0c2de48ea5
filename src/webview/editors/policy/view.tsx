import type { JSX } from 'preact';
import type { Bridge } from '../../bridge.ts';
import { Button } from '../../controls.ts';
import { Link } from '../../parts/link.tsx';
import { TextInput } from '../fields.tsx';
import { type Ask, EditorFrame } from '../frame.tsx';
import type { PolicyContent, RuleCard } from '../messages.ts';

/** The rules of a policy as cards: what they say, what checks them, who tries them, and how that came out. */
export function PolicyEditor({ bridge }: { readonly bridge: Bridge }): JSX.Element {
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
                  ask={ask}
                  openTask={(name) => bridge.post({ type: 'openPlace', kind: 'task', name })}
                />
              ))}
            </section>
          ))}
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
        No rule yet. A list item or a heading with an id mark such as {'{#confirm-first}'} at its end is a rule; write
        one in the text.
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

type RuleProps = { readonly rule: RuleCard; readonly ask: Ask; readonly openTask: (task: string) => void };

function Rule({ rule, ask, openTask }: RuleProps): JSX.Element {
  const { id, line, text, plain } = rule;
  return (
    <article class="card" aria-label={id === null ? `Rule on line ${line}` : `Rule ${id}`}>
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
          hint="Letters, digits and dashes. Checks in rules.yaml name the rule by it; the agent never sees it."
          onCommit={(value) => ask({ type: 'markRule', line, id: value.trim() })}
        />
      )}
      <Checks rule={rule} ask={ask} />
      <Tries rule={rule} openTask={openTask} />
      <Result rule={rule} ask={ask} />
    </article>
  );
}

function Checks({ rule: { id, checks }, ask }: Pick<RuleProps, 'rule' | 'ask'>): JSX.Element | null {
  if (checks.length === 0)
    return id === null ? null : (
      <p class="muted">No check: only a reader can tell whether it was kept. Write one in rules.yaml.</p>
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
                {gate && ' · gates the reward'}
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
}: Omit<RuleProps, 'ask'>): JSX.Element | null {
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
      <span class="label">{isAlwaysTried ? 'Every task, and above all' : 'Exercised by'}</span>{' '}
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
  if (!result) return <p class="muted">No run has tried it yet.</p>;
  const { held, violated, unknown, recording } = result;
  return (
    <p class={violated > 0 ? 'result bad' : 'result'}>
      <span aria-hidden="true">{violated > 0 ? '✕' : '✓'}</span> Last run: held {held}, violated {violated}
      {unknown > 0 ? `, unknown ${unknown}` : ''}.{' '}
      <Button
        label={`${violated > 0 ? 'Open the First Violation' : 'Open Recording'}, ${recording}`}
        onPress={() => ask({ type: 'openRuleRecording', rule: id })}
      >
        {violated > 0 ? 'Open the First Violation' : 'Open Recording'}
      </Button>
    </p>
  );
}
