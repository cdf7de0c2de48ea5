import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { JsonObject } from '../../core/values/json.ts';
import { withTexts } from '../../core/values/texts.ts';
import { copyFiles } from '../files/copyFiles.ts';

/** The name of the folder of an instance in declarations, calls and results. */
const placeholder = '${instanceFolder}';

/** A fresh folder for one instance of a server. Its real path differs from rollout to rollout. */
export class InstanceFolder {
  /** Its name is the same in small letters, as some servers write it. */
  readonly path = join(tmpdir(), `rehearsal-mcp-${randomBytes(8).toString('hex')}`);
  /** Its paths, as a server may write them: the folder of temporary files can be a link, or where the server works. */
  readonly #paths: readonly string[];
  #isMade = false;
  #hasFiles = false;

  constructor() {
    const name = basename(this.path);
    this.#paths = [...new Set([join(realpathSync(tmpdir()), name), this.path, name])];
  }

  /** Makes the folder if it is not there. An instance that is never started does not need one. */
  make(): void {
    if (!this.#isMade) mkdirSync(this.path, { mode: 0o700 });
    this.#isMade = true;
  }

  /** Copies the start state once: a server that is started again in the same rollout keeps its files. */
  copyOnce(from: string, within: string): void {
    if (this.#hasFiles) return;
    copyFiles(from, this.path, within);
    this.#hasFiles = true;
  }

  /** Empties the folder for another start state. */
  clear(): void {
    this.remove();
    this.make();
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
    this.#isMade = false;
    this.#hasFiles = false;
  }

  /** Returns arguments with the path in place of the placeholder. */
  fill(args: JsonObject): JsonObject {
    return withTexts(args, (text) => text.replaceAll(placeholder, this.path));
  }

  /** Returns a text of the server with the placeholder in place of the path. */
  mask(text: string): string {
    return this.#paths.reduce((masked, path) => masked.replaceAll(path, placeholder), text);
  }
}
