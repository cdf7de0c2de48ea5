import type { Offered } from '../../../engine/core/domain/tool.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { withDrafts } from '../../../engine/shell/load/drafts.ts';
import { toolsOf } from '../../../engine/shell/models/typedTurn.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { openDomainAt } from '../../options/rolloutOptions.ts';
import { UsageError } from '../../terminal/io.ts';
import { ChangedFiles, type EditedFile, newInDomain } from '../rollout/changedFiles.ts';
import type { Debuggee } from '../rollout/debuggee.ts';
import type { PresentPlaces } from '../rollout/presentPlaces.ts';
import { headlineOf } from '../variables/explanation.ts';
import { seatNext } from '../variables/nextRequest.ts';
import { type ChainLine, chainOf } from '../variables/why.ts';
import type { Playback, Then } from './playback.ts';

type ForksObserver = {
  /** A fork is played on another reading of the domain's files. */
  readonly onPlaces: (places: PresentPlaces) => void;
  /** Files were edited: `news` are those, `all` also those that were reported before. */
  readonly onChanged: (news: readonly EditedFile[], all: readonly EditedFile[]) => void;
};

/** The forks that a person asks for without an edit, and the evidence that leads to one. Knows no protocol. */
export class Forks {
  readonly #playback: Playback;
  readonly #observer: ForksObserver;
  #files: ChangedFiles;

  constructor(playback: Playback, observer: ForksObserver) {
    this.#playback = playback;
    this.#observer = observer;
    this.#files = this.#filesNow();
  }

  get #debuggee(): Debuggee {
    return this.#playback.debuggee;
  }

  /** The seat in which a person speaks next in the live rollout, with the tools that it can call; null elsewhere. */
  get personNext(): { readonly seat: 'agent' | 'user'; readonly tools: readonly Offered[] } | null {
    const { current, cursor, steps, isLive, seatsAhead } = this.#debuggee;
    const seat = current ? seatNext(current) : null;
    if (!current || seat === null || !isLive || cursor !== steps.length - 1) return null;
    return seatsAhead[seat].type === 'human' ? { seat, tools: toolsOf(seat, current.state) } : null;
  }

  /** Continues live from a step, with the seats that the configuration gives a fork. */
  here(at: Step | undefined): Promise<Then> {
    const step = stepIn(at);
    const words = `nothing was edited, it continues from step ${step}`;
    const make = () => this.#debuggee.fork({ type: 'none', step, words }, this.#debuggee.ownSeats);
    return this.#playback.claim((playback) => playback.branch(make));
  }

  /** Lets a person take a seat from a step on. The rollout continues until it requests their turn. */
  take(at: Step | undefined, seat: 'agent' | 'user' | null): Promise<Then> {
    if (!seat) throw new UsageError('name the seat: /take agent or /take user');
    const step = stepIn(at);
    const words = `a person took the ${seat}'s seat at step ${step}`;
    const make = () => this.#debuggee.fork({ type: 'none', step, words }, { [seat]: { type: 'human' } });
    return this.#playback.claim((playback) => playback.branch(make, { goesOn: true }));
  }

  /** Continues live from a step under the domain as its files are now. Throws what a person can read. */
  swap(at: Step | undefined): Promise<Then> {
    const step = stepIn(at);
    return this.#playback.claim(async (playback) => {
      const { domain, words } = this.#present(step);
      const then = await playback.branch(() => this.#debuggee.swap(step, domain, words));
      this.#files = this.#filesNow();
      this.#observer.onPlaces(this.#debuggee.places);
      return then;
    });
  }

  /** The domain as its files are now, and what of it is new to the rollout. */
  #present(step: number): { readonly domain: LoadedDomain; readonly words: string } {
    const { domain: before, steps } = this.#debuggee;
    const domain = withDrafts(openDomainAt(before.folder));
    const started = steps[0]?.state.started;
    const what = started ? newInDomain(domain, started, this.#files.changed()) : null;
    if (what === null)
      throw new UsageError(
        'the files have not changed since the rollout began: first edit and save policy.md, a persona, a rule or a tool, or edit what the agent says instead',
      );
    return { domain, words: `${what} swapped at step ${step}` };
  }

  /** The reward and the chain of evidence behind it, or behind what speaks against it so far. */
  async why(at: Step | undefined): Promise<{ readonly headline: string; readonly chain: readonly ChainLine[] }> {
    const { steps, domain, task } = this.#debuggee;
    const seen = steps.slice(0, stepIn(at) + 1);
    const state = seen.at(-1)?.state;
    return {
      headline: state ? headlineOf(state, domain).join('\n') : '',
      chain: chainOf({ domain, task, steps: seen, gold: await this.#debuggee.gold() }),
    };
  }

  /** Returns every edited file, and reports each edit to the observer once. */
  edited(): readonly EditedFile[] {
    this.#debuggee.refreshPlaces();
    const { all, news } = this.#files.look(this.#debuggee.steps.length - 1);
    if (news.length > 0) this.#observer.onChanged(news, all);
    return all;
  }

  #filesNow(): ChangedFiles {
    const { domain, steps } = this.#debuggee;
    return new ChangedFiles(domain, steps[0]?.state.started.task.id ?? '');
  }
}

function stepIn(at: Step | undefined): number {
  if (!at) throw new UsageError('nothing has happened yet');
  return at.n;
}
