import type { JSX } from 'preact';
import { stepParts } from '../models/trajectory.ts';
import { Link } from '../parts/link.tsx';

/** Numbers of steps in brackets, each a way to it. */
export function StepLinks({
  steps,
  evidence = [],
  goTo,
  inTabOrder,
}: {
  readonly steps: readonly number[];
  readonly evidence?: readonly number[];
  readonly goTo: (step: number) => void;
  readonly inTabOrder?: boolean;
}): JSX.Element | null {
  const parts = stepParts(steps, evidence);
  if (parts.length === 0) return null;
  return (
    <span class="step-links muted">
      {parts.map((part, index) =>
        typeof part === 'string' ? (
          part
        ) : (
          <Link key={index} label={`Go to step ${part}`} onPress={() => goTo(part)} inTabOrder={inTabOrder ?? true}>
            {part}
          </Link>
        ),
      )}
    </span>
  );
}
