import { existsSync } from 'node:fs';
import { readSidecar, sidecarPath } from './recording.ts';

/** A request of a model, exactly as it was sent. */
export type SentRequest = {
  /** The step that its answer became. */
  readonly step: number;
  /** The step, with its own number where one step took several requests: `7`, or `7.1` and `7.2`. */
  readonly name: string;
  /** The body's own text. */
  readonly body: string;
};

/** Every request that the sidecar of a recording keeps, in the order in which they were sent. */
export function sentRequests(recording: string): readonly SentRequest[] {
  const path = sidecarPath(recording);
  const lines = existsSync(path) ? readSidecar(path).lines : [];
  return lines.flatMap(({ n, request = null, earlier = [] }) => {
    const bodies = [...earlier, request].filter((body) => body !== null);
    return bodies.map((body, index) => ({
      step: n,
      name: bodies.length === 1 ? String(n) : `${n}.${index + 1}`,
      // What was sent was this value's text too, and JSON keeps the order of keys.
      body: JSON.stringify(body),
    }));
  });
}

/** The request of this name, or what is wrong with the name. */
export function requestNamed(requests: readonly SentRequest[], name: string): SentRequest | string {
  const found = requests.find((each) => each.name === name);
  if (found) return found;
  if (requests.length === 0) return 'no model was asked in this rollout, or its sidecar is missing';
  const several = requests.filter(({ step }) => String(step) === name).map((each) => each.name);
  if (several.length > 0) return `step ${name} took several requests: ${several.join(', ')}`;
  return `no model was asked for step ${name}; it was for ${requests.map((each) => each.name).join(', ')}`;
}
