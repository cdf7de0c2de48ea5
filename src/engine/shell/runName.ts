/** The name of a new run: its time in UTC, so that names sort by it, and what it is about: `20261121-101530-grpo`. */
export function runName(about: string, now = new Date()): string {
  return `${now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15)}-${about}`;
}
