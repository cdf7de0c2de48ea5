/** The longest text that many conversations are likely to repeat, in characters. */
const longestShort = 200;
/** The most characters of short and of long texts of which something is kept. */
const [mostShort, mostLong] = [4_000_000, 500_000];

/**
 * Keeps what was worked out for the texts that came last: the texts of a conversation come several times. What is kept of
 * all texts of a log would need more memory than the log.
 */
export class RecentTexts<Known> {
  readonly #short = new Recent<Known>(mostShort);
  readonly #long = new Recent<Known>(mostLong);

  get(text: string): Known | undefined {
    return this.#of(text).get(text);
  }

  set(text: string, known: Known): void {
    this.#of(text).set(text, known);
  }

  clear(): void {
    this.#short.clear();
    this.#long.clear();
  }

  #of({ length }: string): Recent<Known> {
    return length > longestShort ? this.#long : this.#short;
  }
}

class Recent<Known> {
  readonly #most: number;
  readonly #known = new Map<string, Known>();
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(text: string): Known | undefined {
    return this.#known.get(text);
  }

  set(text: string, known: Known): void {
    if (this.#length + text.length > this.#most) this.clear();
    this.#length += text.length;
    this.#known.set(text, known);
  }

  clear(): void {
    this.#known.clear();
    this.#length = 0;
  }
}
