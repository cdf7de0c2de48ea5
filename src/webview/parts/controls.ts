import {
  provideVSCodeDesignSystem,
  vsCodeButton,
  vsCodeDataGrid,
  vsCodeDataGridCell,
  vsCodeDataGridRow,
  vsCodeDropdown,
  vsCodeOption,
  vsCodeProgressRing,
  vsCodeTextField,
} from '@vscode/webview-ui-toolkit';
import { type ComponentChildren, type HTMLAttributes, h, type JSX, type RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

/**
 * The controls of every view. The toolkit behind them is archived upstream, so it has this one importer,
 * and a view sees nothing but these wrappers.
 */
export function registerControls(): void {
  provideVSCodeDesignSystem().register(
    vsCodeButton(),
    vsCodeDataGrid(),
    vsCodeDataGridCell(),
    vsCodeDataGridRow(),
    vsCodeDropdown(),
    vsCodeOption(),
    vsCodeProgressRing(),
    vsCodeTextField(),
  );
}

type Children = { readonly children?: ComponentChildren };

/** The toolkit's elements are HTML elements with their own few attributes. */
type ElementProps = HTMLAttributes<HTMLElement> & Record<string, unknown>;
const element = (name: string, props: ElementProps, children?: ComponentChildren): JSX.Element =>
  h(name, props, children);

export type ButtonProps = Children & {
  readonly primary?: boolean;
  /** A button among many: only its text is seen. */
  readonly quiet?: boolean;
  readonly disabled?: boolean;
  readonly label?: string;
  readonly onPress: () => void;
};

/** A button; `label` names it for screen readers where its text is too short. */
export function Button({ primary, quiet, disabled, label, onPress, children }: ButtonProps): JSX.Element {
  const appearance = quiet ? 'icon' : primary ? 'primary' : 'secondary';
  return element(
    'vscode-button',
    { appearance, disabled: disabled ?? false, 'aria-label': label, onClick: onPress },
    children,
  );
}

/** Something is under way; `label` says what. */
export function ProgressRing({ label }: { readonly label: string }): JSX.Element {
  return element('vscode-progress-ring', { ref: useLabel(label) });
}

/** Names a control that replaces its name by a general one when it is connected. */
function useLabel<Control extends HTMLElement>(label: string): RefObject<Control | null> {
  const ref = useRef<Control>(null);
  useLayoutEffect(() => ref.current?.setAttribute('aria-label', label), [label]);
  return ref;
}

export type DropdownProps = {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onSelect: (value: string) => void;
};

/** One choice of several. */
export function Dropdown({ label, value, options, onSelect }: DropdownProps): JSX.Element {
  const ref = useRef<HTMLElement & { value: string }>(null);
  const values = options.map((option) => option.value).join('\n');
  // The control learns of its options in its own microtask, so a value that is set earlier is lost. A changed list of
  // options resets the value.
  useEffect(() => {
    const timer = setTimeout(() => {
      if (ref.current) ref.current.value = value;
    });
    return () => clearTimeout(timer);
  }, [value, values]);
  const onChange = (): void => {
    const chosen = ref.current?.value;
    if (chosen !== undefined && chosen !== value) onSelect(chosen);
  };
  const items = options.map((option) =>
    element('vscode-option', { key: option.value, value: option.value }, option.label),
  );
  return element('vscode-dropdown', { ref, 'aria-label': label, onChange }, items);
}

export type TextFieldProps = {
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly onInput: (value: string) => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
};

/** One line of text. */
export function TextField({ label, value, placeholder, onInput, onKeyDown }: TextFieldProps): JSX.Element {
  const ref = useLabel<HTMLElement & { value: string }>(label);
  return element('vscode-text-field', {
    ref,
    value,
    placeholder,
    onInput: () => onInput(ref.current?.value ?? ''),
    onKeyDown,
  });
}

export type GridColumn = { readonly key: string; readonly label: string; readonly title?: string };
export type GridRow = {
  readonly key: string;
  readonly cells: readonly ComponentChildren[];
  readonly selected?: boolean;
  /** False where choosing the row would do nothing. */
  readonly opens?: boolean;
};

export type DataGridProps = {
  readonly label: string;
  readonly columns: readonly GridColumn[];
  readonly rows: readonly GridRow[];
  /** Widths as in CSS `grid-template-columns`. */
  readonly template: string;
  /** A row was chosen, with the pointer or with Enter or space. */
  readonly onOpen?: (key: string) => void;
};

/** A table that arrow keys walk through. The first column names its row. */
export function DataGrid({ label, columns, rows, template, onOpen }: DataGridProps): JSX.Element {
  const header = columns.map((column, index) =>
    element(
      'vscode-data-grid-cell',
      { key: column.key, 'cell-type': 'columnheader', 'grid-column': String(index + 1), title: column.title },
      column.label,
    ),
  );
  return element(
    'vscode-data-grid',
    { 'aria-label': label, 'generate-header': 'none', 'grid-template-columns': template },
    [
      element('vscode-data-grid-row', { key: 'header', 'row-type': 'header' }, header),
      ...rows.map((row) => gridRow(row, onOpen)),
    ],
  );
}

/** A button in its own row does something. */
function isOfButton({ target }: Event): boolean {
  return target instanceof Element && target.closest('vscode-button') !== null;
}

function gridRow(row: GridRow, given: DataGridProps['onOpen']): JSX.Element {
  const { key, cells, selected } = row;
  const onOpen = row.opens === false ? undefined : given;
  const open = onOpen && {
    onClick: (event: MouseEvent) => !isOfButton(event) && onOpen(key),
    onKeyDown: (event: KeyboardEvent) => {
      if (isOfButton(event)) return;
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault();
      onOpen(key);
    },
  };
  const content = cells.map((cell, index) =>
    element(
      'vscode-data-grid-cell',
      { key: index, 'cell-type': index === 0 ? 'rowheader' : 'default', 'grid-column': String(index + 1) },
      cell,
    ),
  );
  const className = [onOpen ? 'opens' : '', selected ? 'selected' : ''].join(' ').trim();
  return element(
    'vscode-data-grid-row',
    { key, class: className, ...(selected !== undefined && { 'aria-selected': selected }), ...open },
    content,
  );
}
