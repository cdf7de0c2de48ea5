import { type Recogniser, recogniser } from '../../engine/core/dialogue/dialogue.ts';
import type { Domain } from '../../engine/core/domain/domain.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadedDomain.ts';
import type { LookUps } from './lookUps.ts';
import { type KnownValues, knownValues, parametersOf } from './values.ts';

/** The facts about a domain that drafting uses, computed once. */
export type Desk = {
  readonly loaded: LoadedDomain;
  readonly lookUps: LookUps;
  readonly values: KnownValues;
  readonly recogniser: Recogniser;
  /** Whether personas may be drafted that the domain does not have. */
  readonly newPersonas: boolean;
  /** Whether a new persona cannot have an id, since the domain or a file has it. */
  readonly isTaken: (id: string) => boolean;
};

/** Makes ready to draft tasks of a domain whose tools are described. */
export function openDesk(loaded: LoadedDomain, lookUps: LookUps, newPersonas: boolean, isTaken: Desk['isTaken']): Desk {
  const { domain, world } = loaded;
  const values = knownValues(domain, [world.agent, world.user]);
  return { loaded, lookUps, values, recogniser: recogniserFor(domain), newPersonas, isTaken };
}

/** Understands what a message says about the facts of a domain's lexicon and the arguments of its tools. */
export function recogniserFor(domain: Domain): Recogniser {
  const parameters = domain.tools.flatMap((tool) => parametersOf(tool).map(({ name }) => name));
  return recogniser(domain.lexicon, [...new Set([...Object.keys(domain.lexicon.facts), ...parameters])]);
}
