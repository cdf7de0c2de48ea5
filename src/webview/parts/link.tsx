import type { ComponentChildren, JSX } from 'preact';
import './link.css';

export type LinkProps = {
  readonly children: ComponentChildren;
  /** The action in words, for screen readers and as a hint. */
  readonly label: string;
  readonly onPress: () => void;
  /** False where only the row that has the focus leads the Tab key into its parts. */
  readonly inTabOrder?: boolean;
};

/**
 * Text that does something. Rows of a long list have many of these and come and go while it scrolls, so they are
 * plain buttons.
 */
export function Link({ children, label, onPress, inTabOrder = true }: LinkProps): JSX.Element {
  return (
    <button
      type="button"
      class="link"
      aria-label={label}
      title={label}
      tabIndex={inTabOrder ? 0 : -1}
      onClick={(event) => {
        event.stopPropagation();
        onPress();
      }}
    >
      {children}
    </button>
  );
}
