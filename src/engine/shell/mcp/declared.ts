import type { Location } from '../files/diagnostic.ts';
import type { Fault } from '../files/fault.ts';
import type { Filled } from '../keys/placeholders.ts';

/** Makes the fault of a server from a code and the rest of its message. */
export type FaultOf = (code: string, what: string) => Fault;

/** A server as a domain declares it, for what is made of its declaration. */
export type Declared = {
  readonly name: string;
  /** The folder of the domain. */
  readonly folder: string;
  /** The location of the server's declaration. */
  readonly at: Location | undefined;
  readonly filled: Filled;
  readonly faultOf: FaultOf;
};
