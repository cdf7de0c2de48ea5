import type { JSX } from 'preact';
import { readableEntries } from '../../../engine/core/values/json.ts';
import type { ToolContent } from '../../messages/editorMessages.ts';
import type { Bridge } from '../../parts/bridge.ts';
import { Link } from '../../parts/link.tsx';
import { Choice, LinesInput, TextInput } from '../fields.tsx';
import { type Edit, EditorFrame, editAt } from '../frame.tsx';
import { JsonInput } from '../jsonInput.tsx';
import { Limits } from './limits.tsx';
import { SchemaEditor } from './schemaEditor.tsx';
import { SchemaTable } from './schemaTable.tsx';
import { TryIt } from './tryIt.tsx';

/** A tool: what it does, what it takes, how it is called, and what a call does on a temporary database. */
export function ToolEditor({ bridge }: { readonly bridge: Bridge }): JSX.Element {
  return (
    <EditorFrame<ToolContent> title="Tool" noun="tool" editor="tool" bridge={bridge}>
      {(content, { ask, ran, shown }) => {
        const edit = content.base && editAt(ask, content.base);
        const open = (kind: 'tool' | 'task', name: string) => bridge.post({ type: 'openPlace', kind, name });
        return (
          <div class="form-columns">
            <div class="stack">
              {edit ? <Written content={content} edit={edit} /> : <Described content={content} open={open} />}
              {edit ? (
                <SchemaEditor parameters={content.tool.parameters ?? {}} edit={edit} />
              ) : (
                <SchemaTable content={content} />
              )}
              {edit && <Answers content={content} edit={edit} />}
              {edit && content.simulated ? (
                <Limits limits={content.simulated.limits} effect={content.tool.effect} edit={edit} />
              ) : (
                <LimitList content={content} />
              )}
              <Examples content={content} open={open} />
            </div>
            <TryIt
              key={`${content.tool.name} ${content.tool.parameters === null}`}
              content={content}
              bridge={bridge}
              ask={ask}
              ran={ran}
              isTrusted={shown.isTrusted}
              isEarlier={shown.isRunEarlier}
            />
          </div>
        );
      }}
    </EditorFrame>
  );
}

type Open = (kind: 'tool' | 'task', name: string) => void;

function Described({ content, open }: { readonly content: ToolContent; readonly open: Open }): JSX.Element {
  const { tool, source } = content;
  const nothing =
    tool.parameters === null ? 'Its description is known only when the code is loaded.' : 'It has no description.';
  return (
    <section aria-labelledby="about">
      <h2 id="about">General</h2>
      <p class="multiline">{tool.description || nothing}</p>
      <p>
        <span class="label">Effect</span> {tool.effect} · <span class="label">Called by</span> the {tool.owner} ·{' '}
        <span class="label">Source</span> {source}
      </p>
      <p>
        <Link label={`Open its code, ${tool.name}`} onPress={() => open('tool', tool.name)}>
          Open its code
        </Link>{' '}
        <span class="muted">This tool is defined in code. To change it, edit the code.</span>
      </p>
    </section>
  );
}

const effects = [
  { value: 'read', label: 'read: changes nothing' },
  { value: 'write', label: 'write: may change the database' },
] as const;
const owners = [
  { value: 'agent', label: 'agent' },
  { value: 'user', label: 'user' },
] as const;

type WrittenProps = { readonly content: ToolContent; readonly edit: Edit };

function Written({ content: { tool, simulated }, edit }: WrittenProps): JSX.Element {
  return (
    <section aria-labelledby="about">
      <h2 id="about">General</h2>
      <TextInput
        label="Name"
        path={['name']}
        value={tool.name}
        isCode
        onCommit={(value) => edit.set(['name'], value)}
      />
      <TextInput
        label="Description"
        path={['description']}
        value={tool.description}
        isLong
        hint="What the tool does, for the model that calls it."
        onCommit={(value) => edit.set(['description'], value)}
      />
      <div class="fields-row">
        <Choice
          label="Effect"
          value={tool.effect}
          options={effects}
          onCommit={(value) => edit.set(['effect'], value)}
        />
        <Choice
          label="Called by"
          value={tool.owner}
          options={owners}
          onCommit={(value) => edit.set(['owner'], value)}
        />
      </div>
      <TextInput
        label="Behavior"
        path={['behaviour']}
        value={simulated?.behaviour ?? ''}
        isLong
        hint="Instructions for the model that simulates the tool."
        onCommit={(value) => edit.set(['behaviour'], value)}
      />
    </section>
  );
}

function Answers({ content: { simulated }, edit }: WrittenProps): JSX.Element | null {
  if (!simulated) return null;
  return (
    <section aria-labelledby="answers">
      <h2 id="answers">Input and output</h2>
      <LinesInput
        label="Reads"
        path={['reads']}
        value={simulated.reads}
        isCode
        hint="Database paths that the simulator sees, one per line: orders.{order_id} or customers.*"
        onCommit={(lines) => edit.set(['reads'], lines)}
      />
      <LinesInput
        label="Writes"
        path={['writes']}
        value={simulated.writes}
        isCode
        hint="Paths that it may change, in the same syntax. Only a tool with the effect write changes anything."
        onCommit={(lines) => edit.set(['writes'], lines)}
      />
      <JsonInput
        label="Result (JSON Schema)"
        path={['result']}
        value={simulated.result}
        hint="Each result must match this schema."
        onCommit={(value) => (value === undefined ? edit.remove(['result']) : edit.set(['result'], value))}
      />
    </section>
  );
}

function LimitList({ content: { limits } }: Pick<WrittenProps, 'content'>): JSX.Element | null {
  if (limits.length === 0) return null;
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">Limits</h2>
      <dl>
        {limits.map(({ name, value }) => (
          <div key={name} class="one">
            <dt class="label">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Examples({
  content: { examples },
  open,
}: {
  readonly content: ToolContent;
  readonly open: Open;
}): JSX.Element {
  return (
    <section aria-labelledby="examples">
      <h2 id="examples">Example calls</h2>
      {examples.length === 0 && <p class="muted">No task calls this tool in its gold actions.</p>}
      <ul class="plain-list">
        {examples.map(({ task, arguments: args }, index) => (
          <li key={index} class="one">
            <code>{readableEntries(args)}</code>
            <Link label={`Open task ${task}`} onPress={() => open('task', task)}>
              {task}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
