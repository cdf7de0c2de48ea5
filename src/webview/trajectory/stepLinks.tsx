import type { JSX } from 'preact';
import { Link } from '../parts/link.tsx';

/** Numbers of steps, each a way to it. */
export function StepLinks({
  steps,
  goTo,
  inTabOrder,
}: {
  readonly steps: readonly number[];
  readonly goTo: (step: number) => void;
  readonly inTabOrder?: boolean;
}): JSX.Element | null {
  if (steps.length === 0) return null;
  return (
    <span class="step-links muted">
      step{' '}
      {steps.map((step, index) => (
        <span key={step}>
          {index > 0 && ', '}
          <Link label={`Go to step ${step}`} onPress={() => goTo(step)} inTabOrder={inTabOrder ?? true}>
            {step}
          </Link>
        </span>
      ))}
    </span>
  );
}
