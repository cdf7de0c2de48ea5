/** The events of a training run that say how far it is: its beginnings and its ends (`docs/training-protocol.md`). */
export const lifecycle = ['started', 'resumed', 'paused', 'stopped', 'finished', 'error'] as const;
export type Lifecycle = (typeof lifecycle)[number];

export function isLifecycle(type: string | undefined): type is Lifecycle {
  return (lifecycle as readonly (string | undefined)[]).includes(type);
}
