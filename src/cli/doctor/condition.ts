/** `warning`: something is missing that only some work needs. */
export type Status = 'ok' | 'warning' | 'failed';

/** One thing that Rehearsal needs of a machine, as it was found. */
export type Condition = {
  readonly name: string;
  readonly status: Status;
  readonly found: string;
  /** The advice to the user; null if nothing has to be done. */
  readonly advice: string | null;
};

export const fine = (name: string, found: string): Condition => ({ name, status: 'ok', found, advice: null });
export const lacking = (name: string, found: string, advice: string): Condition => ({
  name,
  status: 'warning',
  found,
  advice,
});
export const broken = (name: string, found: string, advice: string): Condition => ({
  name,
  status: 'failed',
  found,
  advice,
});
