import { Fault } from '../../engine/shell/fault.ts';

/** What the trainer's check says that a run needs of the disk where its folder lies, in bytes. */
export type Needs = {
  readonly disk: number;
  /** What is free there. */
  readonly free: number;
};

/** Reads it out of what the check printed; libraries of the trainer may have spoken before. */
export function needsOf(printed: string): Needs {
  const line = printed.split('\n').findLast((each) => each.startsWith('{"disk"'));
  if (line === undefined)
    throw new Fault({
      who: 'environment',
      code: 'trainer/check',
      message: "the trainer's check of the options ended without saying what the run needs: install Rehearsal again",
    });
  return JSON.parse(line) as Needs;
}
