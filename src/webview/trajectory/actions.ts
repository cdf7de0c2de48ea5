import type { PlaceKind } from '../messages/protocol.ts';

/** The actions that are available everywhere in the view. */
export type Actions = {
  /** Starts the debugger on the recording, at a step. */
  readonly debug: (step: number) => void;
  /** Opens the file where a rule, tool or task is. */
  readonly openPlace: (kind: PlaceKind, name: string) => void;
  /** Brings the entry of a step into view and puts the focus on it. */
  readonly goTo: (step: number) => void;
};
