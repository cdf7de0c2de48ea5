import { dirname, resolve } from 'node:path';
import type { Dialect } from '../../../engine/core/domain/dialect.ts';
import { checkpointScheme } from '../../../engine/core/domain/seatSpec.ts';
import { environmentOf, type ServedModel, servedFor } from '../../checkpoints/servedModel.ts';
import { throwUnlessInterpretersApproved } from '../../python/namedInterpreters.ts';
import type { Configuration } from '../rollout/configuration.ts';

/** The checkpoint in the agent's seat of a session: served from the session's opening to its end. */
export class CheckpointSeat {
  readonly #print: (text: string) => void;
  readonly #over = new AbortController();
  #served: ServedModel | undefined;
  environment: NodeJS.ProcessEnv = process.env;

  constructor(print: (text: string) => void) {
    this.#print = print;
  }

  /** Serves the checkpoint that a configuration names, if it names one; `parseSeat` knows it in `environment` then. */
  async open({ agent, forkAgent, python, domain, recording }: Configuration, dialect: Dialect): Promise<void> {
    const named = [agent, forkAgent].find((each) => each?.startsWith(checkpointScheme));
    if (named === undefined) return;
    const folder = domain ?? dirname(recording ?? '');
    throwUnlessInterpretersApproved(resolve(folder, 'launch.json'), { python }, process.env);
    const io = { cwd: process.cwd(), err: this.#print, signal: this.#over.signal };
    this.#served = await servedFor(named, dialect, python, io);
    if (this.#served) this.environment = { ...process.env, ...environmentOf(this.#served) };
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#served?.close();
  }
}
