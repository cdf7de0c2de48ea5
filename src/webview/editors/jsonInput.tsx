import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Json } from '../../engine/core/values/json.ts';
import type { ValuePath } from '../messages/editorMessages.ts';
import { TextInput } from './fields.tsx';

export type JsonInputProps = {
  readonly label: string;
  readonly value: Json | undefined;
  readonly hint?: string | undefined;
  readonly problem?: string | undefined;
  /** The path of its value in the entry. */
  readonly path?: ValuePath;
  /** An empty field means undefined. */
  readonly onCommit: (value: Json | undefined) => void;
  /** Called with whether the text is valid JSON: while it is not, the value stays unchanged. */
  readonly onRead?: (isJson: boolean) => void;
};

/** An input for a value as JSON. Invalid JSON stays in the field with the error, and is not committed. */
export function JsonInput({ label, value, hint, problem, path, onCommit, onRead }: JsonInputProps): JSX.Element {
  const written = value === undefined ? '' : JSON.stringify(value, null, 2);
  const [broken, setBroken] = useState<{ readonly text: string; readonly reason: string } | null>(null);
  useEffect(() => setBroken(null), [written]);
  const commit = (text: string): void => {
    const read = parsed(text);
    const reason = 'reason' in read ? read.reason : null;
    setBroken(reason === null ? null : { text, reason });
    onRead?.(reason === null);
    if (!('reason' in read)) onCommit(read.value);
  };
  return (
    <TextInput
      label={label}
      hint={hint}
      problem={broken ? `This is not JSON: ${broken.reason}` : problem}
      {...(path && { path })}
      value={broken?.text ?? written}
      isLong
      isCode
      onCommit={commit}
    />
  );
}

function parsed(text: string): { readonly value: Json | undefined } | { readonly reason: string } {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) as Json };
  } catch (error) {
    return { reason: (error as Error).message };
  }
}
