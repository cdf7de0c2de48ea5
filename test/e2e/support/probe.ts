import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/repository.ts';
import { until } from './until.ts';

/** An event in the extension host: it started a process, a Node process reports its own start, or a server listens. */
export type Noted = { readonly type: 'started' | 'watched' | 'listened'; readonly words: readonly string[] };

/** The result of a command: its return value, or its error. */
export type Answer = { readonly value: unknown; readonly error: string | null };

/** VS Code's search and language servers, and the commands by which it looks for open ports. */
function isOfVsCode(words: readonly string[]): boolean {
  if (words.some((word) => word.endsWith('rehearsal.mjs'))) return false;
  const isPortSearch = words[0] === '/bin/sh' && /^(?:ls -l \/proc\/|ps -F -A )/.test(words.at(-1) ?? '');
  return isPortSearch || words.some((word) => word.includes('/lib/vscode/'));
}

/** Marks a path that a command receives as the URI of a file. */
export const fileAt = (path: string) => ({ file: path });

/** The folder of the extension that acts as the probe in the extension host. */
export const probeExtension = inRoot('test', 'e2e', 'probe');

/** Runs commands by their ids in a workbench with the probe's extension, and tells which processes that started. */
export class Probe {
  readonly #folder = mkdtempSync(join(tmpdir(), 'rehearsal-probe-'));
  #asked = 0;

  /** The environment that the workbench's server needs. */
  get env(): Record<string, string> {
    return { REHEARSAL_PROBE: this.#folder };
  }

  /** Waits for the extension. Returns whether the workspace is trusted, as reported to extensions. */
  async isTrusted(): Promise<boolean> {
    const file = join(this.#folder, 'is-up');
    await until('the probe', async () => {
      if (!existsSync(file)) throw new Error('it is not up');
    });
    return readFileSync(file, 'utf8') === 'true';
  }

  /** Starts a command. The returned function gives its result, or null while it runs. */
  ask(command: string, args: readonly unknown[] = []): () => Answer | null {
    this.#asked += 1;
    const id = this.#asked;
    const ask = join(this.#folder, 'ask.json');
    writeFileSync(`${ask}.new`, JSON.stringify({ id, command, args }));
    renameSync(`${ask}.new`, ask);
    const answer = join(this.#folder, `answer-${id}.json`);
    return () => (existsSync(answer) ? (JSON.parse(readFileSync(answer, 'utf8')) as Answer) : null);
  }

  /** Returns the events since the last `forget`, without the processes that VS Code itself starts. */
  noted(): readonly Noted[] {
    const file = join(this.#folder, 'noted.jsonl');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    const all = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Noted);
    return all.filter(({ words }) => !isOfVsCode(words));
  }

  forget(): void {
    rmSync(join(this.#folder, 'noted.jsonl'), { force: true });
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
