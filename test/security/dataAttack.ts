import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { temporaryFolder } from '../support/temporary.ts';

/** An attack by data, not by a domain's code. */
export type DataAttack = {
  readonly attacker: 'Domain' | 'MCP server' | 'Recording' | 'Local request' | 'Copy' | 'Training target';
  readonly name: string;
  readonly promise: string;
  /** Runs the attack and returns its result for the table. Fails if the promise does not hold. */
  readonly run: () => Promise<string> | string;
  /** Whether this machine has the requirements of the attack. */
  readonly isPossible: boolean;
};

type Row = readonly [name: string, run: DataAttack['run']];

export const rows =
  (attacker: DataAttack['attacker'], promise: string, isPossible = true) =>
  (...given: readonly Row[]): readonly DataAttack[] =>
    given.map(([name, run]) => ({ attacker, name, promise, run, isPossible }));

let root: string | undefined;
/** Creates a folder that is removed with all others at the end. */
export function scratch(): string {
  root ??= temporaryFolder('rehearsal-hostile');
  return mkdtempSync(join(root, 'a-'));
}

export function removeScratchAtEnd(): void {
  afterAll(() => root !== undefined && rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
}
