/** What the sidecar says of one event beside its time. */
export type SideNote = {
  readonly ms?: number;
  readonly retries?: number;
  readonly usage?: { readonly input: number; readonly output: number };
  /** The body that a model was sent for this event; null where it was not asked after all. */
  readonly request?: unknown;
  /** Bodies sent before it for the same answer: a seat may ask its model more than once. */
  readonly earlier?: readonly unknown[];
};
