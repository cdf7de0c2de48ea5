import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder, onDisk, replaceFile } from '../files/disk.ts';
import { signingKeyPath } from '../records/ledger.ts';

/** The file that keeps a person's permanent consents: a line for each consent. */
type ConsentFile = 'allowed-keys.txt' | 'approved.txt';

/** Returns the consents of this user: outside of every workspace, shared by the command line and the editor. */
export function readConsents(file: ConsentFile, environment: NodeJS.ProcessEnv): readonly string[] {
  const path = pathOf(file, environment);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

/** Remembers a consent for later commands. */
export function rememberConsent(file: ConsentFile, line: string, environment: NodeJS.ProcessEnv): void {
  const path = pathOf(file, environment);
  const kept = [...new Set([...readConsents(file, environment), line])];
  makeFolder(dirname(path), { mode: 0o700 });
  onDisk(path, () => replaceFile(path, kept.map((each) => `${each}\n`).join('')));
}

const pathOf = (file: ConsentFile, environment: NodeJS.ProcessEnv) => join(dirname(signingKeyPath(environment)), file);
