import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Json } from '../../engine/core/values/json.ts';
import type { EditorContent, FileProblem, FromEditor, Ran, Shown, ValuePath } from '../messages/editorMessages.ts';
import type { Bridge } from '../parts/bridge.ts';
import { Button, ProgressRing } from '../parts/controls.ts';
import { Choice, Errors, Refusal } from './fields.tsx';
import { afterPress } from './press.ts';
import './editor.css';

/** The state of an editor: the content of the document, and the last run for it. */
export type EditorState = { readonly shown: Shown | null; readonly ran: Ran | null };

/** Sends a request from an editor to the extension. */
export type Ask = (message: FromEditor) => void;

/** The editor's side of the channel. */
export function useEditor(bridge: Bridge): EditorState & { readonly ask: Ask } {
  const [state, setState] = useState<EditorState>({ shown: null, ran: null });
  useEffect(() => {
    const end = bridge.receive((message) => {
      if (message.type !== 'editor') return;
      const told = message.message;
      if (told.type === 'shown') afterPress(() => setState((before) => ({ ...before, shown: told })));
      else if (told.type === 'ran') afterPress(() => setState((before) => ({ ...before, ran: told })));
    });
    bridge.post({ type: 'ready' });
    return end;
  }, [bridge]);
  return { ...state, ask: (message) => bridge.post({ type: 'editor', message }) };
}

/** Changes of the entry that is shown; paths begin at the entry. */
export type Edit = {
  readonly set: (path: ValuePath, value: Json) => void;
  readonly insert: (path: ValuePath, value: Json) => void;
  readonly remove: (path: ValuePath) => void;
};

/** Changes at a place of the file. */
export function editAt(ask: Ask, base: ValuePath): Edit {
  return {
    set: (path, value) => ask({ type: 'set', path: [...base, ...path], value }),
    insert: (path, value) => ask({ type: 'insert', path: [...base, ...path], value }),
    remove: (path) => ask({ type: 'remove', path: [...base, ...path] }),
  };
}

type FrameProps<Content extends EditorContent> = {
  readonly title: string;
  /** The noun for an entry of the file. */
  readonly noun: string;
  readonly bridge: Bridge;
  readonly editor: Content['editor'];
  readonly children: (content: Content, editor: ReturnType<typeof useEditor> & { shown: Shown }) => ComponentChildren;
};

/**
 * Shows the parts that all visual editors have: the title, the entries of the file, the link to the text, and problems.
 */
export function EditorFrame<Content extends EditorContent>(props: FrameProps<Content>): JSX.Element {
  const { title, noun, bridge, children } = props;
  const editor = useEditor(bridge);
  const { shown, ask } = editor;
  const openText = (): void => bridge.post({ type: 'openAsText' });
  if (!shown)
    return (
      <main class="editor loading">
        <h1>{title}</h1>
        <ProgressRing label={`Opening the ${noun}`} />
      </main>
    );
  const { broken, items, index, content, name } = shown;
  const problem = broken ?? items[index]?.problem ?? checkProblem(shown) ?? null;
  return (
    <main class="editor">
      <header class="title-row">
        <h1>
          {title} <span class="muted">{name}</span>
        </h1>
        <span class="spacer" />
        {shown.hasText && <Button onPress={openText}>Open as Text</Button>}
      </header>
      {items.length > 1 && (
        <Choice
          label={`${noun[0]?.toUpperCase()}${noun.slice(1)} (${items.length} in this file)`}
          value={String(index)}
          options={items.map(({ label, problem: own }, at) => ({
            value: String(at),
            label: own ? `${label} (can't be read)` : label,
          }))}
          onCommit={(chosen) => ask({ type: 'select', index: Number(chosen) })}
        />
      )}
      {content?.editor === props.editor && (
        <Refusal.Provider value={shown.refusal}>
          <Errors.Provider value={shown.errors}>{children(content as Content, { ...editor, shown })}</Errors.Provider>
        </Refusal.Provider>
      )}
      {problem && (
        <Problem
          problem={problem}
          noun={broken ? 'file' : noun}
          hasForm={content !== null}
          errors={shown.errors}
          ask={ask}
        />
      )}
    </main>
  );
}

/** Returns the first error that a check found in the shown entry. */
function checkProblem({ errors }: Shown): FileProblem | undefined {
  return errors.flatMap(({ message, line }) => (line === undefined ? [] : { message, line }))[0];
}

type ProblemProps = {
  readonly problem: FileProblem;
  readonly noun: string;
  /** Whether the form is shown above. */
  readonly hasForm: boolean;
  readonly errors: Shown['errors'];
  readonly ask: Ask;
};

function Problem({ problem: { message, line }, noun, hasForm, errors, ask }: ProblemProps): JSX.Element {
  const own = errors.find((error) => message.startsWith(error.message))?.message;
  const [isAtField, setIsAtField] = useState(false);
  useLayoutEffect(() => {
    const atFields = [...document.querySelectorAll('.field-problem')].map(({ textContent }) => textContent);
    setIsAtField(own !== undefined && atFields.some((text) => text.includes(own)));
  }, [own]);
  return (
    <div class={hasForm ? 'error-box below-form' : 'error-box'} role={hasForm ? 'status' : 'alert'}>
      <p>
        {line > 0 && `Line ${line}: `}
        {isAtField ? 'the error is shown at its field.' : message}
      </p>
      {line > 0 && (
        <>
          {!hasForm && <p>Fix this problem in the text to edit the {noun} here.</p>}
          <Button primary={!hasForm} onPress={() => ask({ type: 'openLine', line })}>
            Show Line {line} in the Text
          </Button>
        </>
      )}
    </div>
  );
}
