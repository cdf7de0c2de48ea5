import type { Json } from '../../values/json.ts';

/** The keys of domain.yaml under which tool sources are declared by name. */
export const sourceKeys = ['mcpServers', 'environments'] as const;
export type SourceKey = (typeof sourceKeys)[number];

/** The declaration by which a model answers for a tool. */
export type Simulation = {
  readonly behaviour: string;
  /** JSON Schema of the result. */
  readonly result: Json;
  /** Paths of the database that the simulator is shown, and those that it may change. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
};

/** The facts about the source of a tool. */
export type SourceFacts = {
  /** The place where a call runs. Only a call `atSource` changes state outside of the engine's databases. */
  readonly runs: 'inWorker' | 'inPython' | 'byModel' | 'atSource';
  /** The name of the source that holds the state; null if that is the engine's database. */
  readonly state: string | null;
  /** The key and the name under which domain.yaml declares the source; null if no key does. */
  readonly declaredAt: readonly [key: SourceKey, name: string] | null;
  /** The environment that works on the domain's database and has the tool; null for other tools. */
  readonly hosted: string | null;
  /** The name of the tool at its source, if that is another one. */
  readonly nameThere: string | undefined;
  /** Whether the code of the tool is in tools.ts or tools.py of the domain. */
  readonly isInFiles: boolean;
  /** Whether the author of the domain cannot change the description of the tool. */
  readonly isForeign: boolean;
  /** Whether two equal calls on the same state are expected to have the same result. */
  readonly isRepeatable: boolean;
  /** The declaration by which a model answers; null if no model does. */
  readonly simulation: Simulation | null;
  /** Describes the origin to the author of the domain. */
  readonly label: string;
};

/** A kind of tool source: answers for an origin of the kind. */
export type SourceKind<Origin> = (origin: Origin) => SourceFacts;
