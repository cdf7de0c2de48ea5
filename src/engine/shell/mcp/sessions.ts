/** The number of connections of this process to each session, by server and id. */
const holders = new Map<string, number>();
/** The sessions of connections whose handshake is in progress. */
const opening = new Set<Sessions>();

/** The sessions that a server gives to a connection. Other connections of this process may have the same ones. */
export class Sessions {
  /** Ends a session on the server. It may reject. */
  end: (id: string) => Promise<void> = async () => undefined;
  /** Whether another connection of this process had the session first. */
  isShared = false;
  /** Every session that the server has named to this connection. The last one is in use. */
  readonly #named = new Set<string>();
  /** Sessions that ended during the handshake, of which the server may have given one to this connection. */
  readonly #ended = new Set<string>();
  #server = '';
  /** The key in `holders` under which this connection is counted. */
  #held: string | null = null;

  /**
   * Notes that the handshake begins.
   * @param server the server, as a session of another one may have the same id
   */
  open(server: string): void {
    this.#server = server;
    opening.add(this);
  }

  add(id: string): void {
    this.#named.add(id);
  }

  /** Notes that the handshake has ended, and the session that is in use. */
  hold(id: string | undefined): void {
    opening.delete(this);
    if (id === undefined) return;
    const session = this.#nameOf(id);
    const others = holders.get(session) ?? 0;
    this.isShared = others > 0 || this.#ended.has(session);
    holders.set(session, others + 1);
    this.#held = session;
  }

  /** Leaves the sessions. The last connection that has one ends it on the server. */
  async leave(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    const othersOf = (session: string) => (holders.get(session) ?? 0) - (session === held ? 1 : 0);
    const left = [...this.#named].filter((id) => othersOf(this.#nameOf(id)) === 0);
    this.#named.clear();
    const letGo = () => {
      if (held === null) return;
      const others = othersOf(held);
      if (others > 0) holders.set(held, others);
      else holders.delete(held);
    };
    const hasOthers = held !== null && othersOf(held) > 0;
    if (hasOthers) letGo();
    await Promise.all(left.map((id) => this.end(id).catch(() => undefined)));
    for (const id of left) for (const other of opening) other.#ended.add(this.#nameOf(id));
    // Until the session has ended, a connection that the server gives it to shares it.
    if (!hasOthers) letGo();
  }

  #nameOf(id: string): string {
    return JSON.stringify([this.#server, id]);
  }
}
