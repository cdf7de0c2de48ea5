import { type ComponentChildren, createContext, type JSX } from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Shown, ValuePath } from '../messages/editorMessages.ts';

/**
 * The pause in typing, in milliseconds, after which the typed text becomes one change of the document and one undo
 * step.
 */
const pauseMs = 400;

/** The last change that could not be made: its field keeps the typed text and shows the reason. */
export const Refusal = createContext<Shown['refusal']>(null);

/** The errors in the shown entry: the field of such a path, or of a path above it, shows the reason. */
export const Errors = createContext<Shown['errors']>([]);

type Labelled = {
  readonly label: string;
  /** An explanation, shown below the control. */
  readonly hint?: string | undefined;
  /** The error in its value. */
  readonly problem?: string | undefined;
  readonly isDisabled?: boolean;
};

/** A label above a control, with an explanation below it. */
function Field({
  id,
  label,
  hint,
  problem,
  children,
}: Labelled & { readonly id: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      <Notes id={id} hint={hint} problem={problem} />
    </div>
  );
}

function Notes({ id, hint, problem }: Pick<Labelled, 'hint' | 'problem'> & { readonly id: string }): JSX.Element {
  return (
    <>
      {problem && (
        <p id={`${id}-problem`} class="field-problem" role="alert">
          <span aria-hidden="true">✕</span> {problem}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} class="muted hint">
          {hint}
        </p>
      )}
    </>
  );
}

const describedBy = (id: string, { hint, problem }: Pick<Labelled, 'hint' | 'problem'>): string | undefined =>
  [problem && `${id}-problem`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined;

/**
 * Shows what is typed, until it is handed over: after a pause, when the field is left, and with the keys that save.
 * What the document says instead, by undo or in the text, shows at once, unless what was typed since is still on its
 * way there.
 */
function useDraft(value: string, onCommit: (value: string) => void) {
  const [draft, setDraft] = useState(value);
  const latest = useRef({ draft, value, onCommit });
  latest.current = { draft: latest.current.draft, value, onCommit };
  /** Committed values that the document has not shown yet, the oldest first. */
  const handed = useRef<readonly string[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const refusal = useContext(Refusal);
  const [refused, setRefused] = useState<string | null>(null);
  const stopWaiting = (): void => {
    if (timer.current !== null) clearTimeout(timer.current);
    timer.current = null;
  };
  const show = (text: string): void => {
    latest.current.draft = text;
    setDraft(text);
    setRefused(null);
  };
  useEffect(() => {
    if (!refusal) return;
    handed.current = [];
    if (latest.current.draft !== latest.current.value) setRefused(refusal.reason);
  }, [refusal?.number]);
  useEffect(() => {
    const at = handed.current.indexOf(value);
    handed.current = at === -1 ? [] : handed.current.slice(at + 1);
    if (timer.current === null && handed.current.length === 0) show(value);
  }, [value]);
  const commit = (): void => {
    stopWaiting();
    const { draft: typed, value: shown, onCommit: hand } = latest.current;
    if (typed === (handed.current.at(-1) ?? shown)) return;
    handed.current = [...handed.current, typed];
    hand(typed);
  };
  useEffect(() => commit, []);
  const type = (text: string): void => {
    show(text);
    stopWaiting();
    timer.current = setTimeout(commit, pauseMs);
  };
  const takeBack = (): void => {
    stopWaiting();
    handed.current = [];
    show(value);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === 'Escape') takeBack();
    if (isCommand && event.key === 's') commit();
    // VS Code takes back what is in the document already.
    if (isCommand && event.key === 'z' && timer.current !== null) takeBack();
  };
  return { draft, type, commit, onKeyDown, refused };
}

/** Returns the error in the value at a path of the entry, if any. */
function useError(path: ValuePath | undefined): string | undefined {
  const errors = useContext(Errors);
  return path && errors.find((each) => path.every((part, at) => each.path[at] === part))?.message;
}

export type TextInputProps = Labelled & {
  readonly value: string;
  readonly onCommit: (value: string) => void;
  readonly isLong?: boolean;
  readonly placeholder?: string;
  readonly isCode?: boolean;
  /** Called with the text of a line when Enter is pressed in it. */
  readonly onEnter?: (text: string) => void;
  /** The path of its value in the entry. */
  readonly path?: ValuePath;
};

/** A text, of one line or of several. */
export function TextInput(given: TextInputProps): JSX.Element {
  const { value, onCommit, onEnter, isLong = false, placeholder, isCode = false, isDisabled, path } = given;
  const id = useId();
  const { draft, type, commit, onKeyDown, refused } = useDraft(value, onCommit);
  const error = useError(path);
  const problem =
    refused === null ? (given.problem ?? error) : `Not written to the file: ${refused}. Press Escape to undo the edit.`;
  const props = { ...given, problem };
  const common = {
    id,
    value: draft,
    placeholder,
    class: isCode ? 'code-input' : undefined,
    disabled: isDisabled,
    spellcheck: !isCode,
    'aria-invalid': props.problem ? ('true' as const) : undefined,
    'aria-describedby': describedBy(id, props),
    onBlur: commit,
    onKeyDown: (event: KeyboardEvent) => {
      onKeyDown(event);
      if (event.key !== 'Enter' || event.isComposing || isLong || !onEnter) return;
      commit();
      onEnter(draft);
    },
  };
  return (
    <Field id={id} {...props}>
      {isLong ? (
        <textarea {...common} onInput={({ currentTarget }) => type(currentTarget.value)} />
      ) : (
        <input type="text" {...common} onInput={({ currentTarget }) => type(currentTarget.value)} />
      )}
    </Field>
  );
}

export type LinesInputProps = Omit<TextInputProps, 'value' | 'onCommit' | 'isLong'> & {
  readonly value: readonly string[];
  readonly onCommit: (lines: string[]) => void;
};

/** A list with one item per line. Blank lines and the space around a line stay in the field only. */
export function LinesInput({ value, onCommit, ...about }: LinesInputProps): JSX.Element {
  const [typed, setTyped] = useState('');
  const written = value.join('\n');
  const isWritten = (text: string): boolean => linesOf(text).join('\n') === written;
  // Until the document has taken the last change, the field keeps the text of the change before.
  const taken = useRef('');
  if (isWritten(typed)) taken.current = typed;
  const commit = (text: string): void => {
    setTyped(text);
    if (!isWritten(text)) onCommit(linesOf(text));
  };
  return <TextInput {...about} value={isWritten(taken.current) ? taken.current : written} isLong onCommit={commit} />;
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

export type SliderProps = Labelled & {
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step?: number;
  readonly onCommit: (value: number) => void;
};

/** A number between two others. The document changes when the slider is let go. */
export function Slider(props: SliderProps): JSX.Element {
  const { value, min, max, step = 1, onCommit, isDisabled } = props;
  const id = useId();
  const [moved, setMoved] = useState<number | null>(null);
  useEffect(() => setMoved(null), [value]);
  const shown = moved ?? value;
  return (
    <Field id={id} {...props}>
      <div class="slider">
        <input
          id={id}
          type="range"
          min={min}
          max={max}
          step={step}
          value={shown}
          disabled={isDisabled}
          aria-describedby={describedBy(id, props)}
          onInput={({ currentTarget }) => setMoved(Number(currentTarget.value))}
          onChange={({ currentTarget }) => {
            const chosen = Number(currentTarget.value);
            if (chosen !== value) onCommit(chosen);
          }}
        />
        <output for={id}>{shown}</output>
      </div>
    </Field>
  );
}

export type SwitchProps = Labelled & { readonly value: boolean; readonly onCommit: (value: boolean) => void };

/** Something that is so, or is not. */
export function Switch(props: SwitchProps): JSX.Element {
  const { label, value, onCommit, isDisabled, hint, problem } = props;
  const id = useId();
  return (
    <div class="field switch">
      <input
        id={id}
        type="checkbox"
        checked={value}
        disabled={isDisabled}
        aria-describedby={describedBy(id, props)}
        onChange={({ currentTarget }) => onCommit(currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      <Notes id={id} hint={hint} problem={problem} />
    </div>
  );
}

export type ChoiceProps = Labelled & {
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onCommit: (value: string) => void;
  /** The path of its value in the entry. */
  readonly path?: ValuePath;
};

/** One of several. */
export function Choice(given: ChoiceProps): JSX.Element {
  const { value, options, onCommit, isDisabled, path } = given;
  const error = useError(path);
  const props = { ...given, problem: given.problem ?? error };
  const id = useId();
  const isKnown = options.some((option) => option.value === value);
  return (
    <Field id={id} {...props}>
      <select
        id={id}
        value={value}
        disabled={isDisabled}
        aria-invalid={props.problem ? 'true' : undefined}
        aria-describedby={describedBy(id, props)}
        onChange={({ currentTarget }) => onCommit(currentTarget.value)}
      >
        {!isKnown && <option value={value}>{value === '' ? '(choose)' : value}</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    </Field>
  );
}
