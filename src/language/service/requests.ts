import type { FromService, ToService } from './messages.ts';

/** A message that is answered. */
export type Request = Extract<ToService, { readonly id: number }>;
type Unnumbered<Message> = Message extends Request ? Omit<Message, 'id'> : never;

export type Reply<T> =
  | { readonly type: 'answer'; readonly value: T }
  | { readonly type: 'failed'; readonly message: string }
  | { readonly type: 'cancelled' };

/** A token of VS Code or of a client of the Language Server Protocol. */
type Token = {
  readonly isCancellationRequested: boolean;
  readonly onCancellationRequested: (listener: () => void) => { readonly dispose: () => void };
};

/** Numbers requests to the language service and matches its answers to them. */
export class Requests {
  readonly #post: (message: ToService) => void;
  readonly #pending = new Map<number, (reply: Reply<unknown>) => void>();
  #last = 0;

  constructor(post: (message: ToService) => void) {
    this.#post = post;
  }

  send<T>(request: Unnumbered<Exclude<Request, { readonly type: 'cancel' }>>, token?: Token): Promise<Reply<T>> {
    if (token?.isCancellationRequested) return Promise.resolve({ type: 'cancelled' });
    this.#last += 1;
    const id = this.#last;
    const { promise, resolve } = Promise.withResolvers<Reply<T>>();
    this.#pending.set(id, resolve as (reply: Reply<unknown>) => void);
    const listening = token?.onCancellationRequested(() => {
      if (this.#settle(id, { type: 'cancelled' })) this.#post({ type: 'cancel', id });
    });
    this.#post({ ...request, id } as Request);
    return promise.finally(() => listening?.dispose());
  }

  /** Passes an answer to the request that waits for it. */
  receive(message: Extract<FromService, { readonly type: 'answer' | 'failed' }>): void {
    if (message.id !== null) this.#settle(message.id, message);
  }

  /** Cancels all requests, because the service that they were sent to has ended. */
  abandon(): void {
    for (const id of [...this.#pending.keys()]) this.#settle(id, { type: 'cancelled' });
  }

  #settle(id: number, reply: Reply<unknown>): boolean {
    this.#pending.get(id)?.(reply);
    return this.#pending.delete(id);
  }
}
