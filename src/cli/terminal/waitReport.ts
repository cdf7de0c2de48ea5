import type { StatusLine } from './statusLine.ts';

/** Reports what is waited for, each by a number. */
type WaitReport = {
  readonly begin: (key: number, name: string) => void;
  readonly finish: (key: number) => void;
  /** Stops the reports. */
  readonly end: () => void;
};

type WaitOptions = {
  /** Prints a line where there is no status line. */
  readonly say: (text: string) => void;
  readonly line?: StatusLine | undefined;
  /** Returns the part of the status line, from what was begun first, the number of all, and the seconds. */
  readonly summary: (name: string, count: number, seconds: number) => string;
  /** Seconds after which the status line shows a wait. */
  readonly shownAfter?: number;
  /** Seconds after which a line reports a wait; then twice that, and so on. */
  readonly saidAfter?: number;
  /** Names what is waited for together, where one thing can block the others; without this, each has its own lines. */
  readonly together?: (names: readonly string[]) => string;
};

/** A status line counts the seconds of a wait; without one, a line is printed from time to time. */
export function waitReport(options: WaitOptions): WaitReport {
  const { say, line, summary, shownAfter = 0, saidAfter = 10, together } = options;
  const waiting = new Map<number, { readonly name: string; readonly since: number; nextWord: number }>();
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    const now = performance.now();
    const waited = ({ since }: { readonly since: number }) => Math.round((now - since) / 1000);
    const [first] = waiting.values();
    line?.show('wait', first && waited(first) >= shownAfter ? summary(first.name, waiting.size, waited(first)) : '');
    if (line) return;
    for (const each of together && first ? [first] : waiting.values()) {
      if (waited(each) < each.nextWord) continue;
      each.nextWord *= 2;
      const name = together ? together([...waiting.values()].map((one) => one.name)) : each.name;
      say(`still waiting for ${name}, ${waited(each)} s`);
    }
  };
  const end = () => {
    clearInterval(timer);
    timer = undefined;
    waiting.clear();
    line?.show('wait', '');
  };
  return {
    begin: (key, name) => {
      waiting.set(key, { name, since: performance.now(), nextWord: saidAfter });
      timer ??= setInterval(tick, 1000).unref();
    },
    finish: (key) => {
      waiting.delete(key);
      if (waiting.size === 0) end();
    },
    end,
  };
}
