import { canonicalJson, type Json } from '../../core/values/json.ts';

/** Snapshots that are kept. Each rollout needs its last one, and at most this many rollouts are live. */
const most = 256;

/**
 * The snapshots of a process that contain secrets, by what recordings have in their place. They are in memory only: a server
 * gets its own text back, and recordings do not have it.
 */
export class SecretSnapshots {
  /** Null where two snapshots differ only in their secrets, as one may have a secret in two forms. */
  readonly #kept = new Map<string, Json>();

  /**
   * Keeps a snapshot that contains secrets.
   * @param recorded the snapshot without secrets
   */
  keep(source: string, recorded: Json, own: Json): void {
    const text = canonicalJson(own);
    const key = keyOf(source, recorded);
    const before = this.#kept.get(key);
    this.#kept.delete(key);
    this.#kept.set(key, before === undefined || canonicalJson(before) === text ? own : null);
    const [oldest = key] = this.#kept.keys();
    if (this.#kept.size > most) this.#kept.delete(oldest);
  }

  /** Returns the snapshot as the server gave it; undefined where it is not known. */
  find(source: string, recorded: Json): Json | undefined {
    return this.#kept.size === 0 ? undefined : (this.#kept.get(keyOf(source, recorded)) ?? undefined);
  }
}

const keyOf = (source: string, recorded: Json) => `${source} ${canonicalJson(recorded)}`;
