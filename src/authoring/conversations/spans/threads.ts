import { keyOf } from '../history.ts';
import type { Said } from '../saidMessage.ts';
import { listAt } from '../transcript.ts';
import type { Step } from './step.ts';

/** A call of a model with what it says about the conversation. */
export type Call = {
  readonly step: Step;
  readonly system: string;
  readonly tools: string;
  /** The messages of the model's request, without those of the system. */
  readonly asked: readonly Said[];
  readonly said: readonly Said[];
  readonly agent: Step | undefined;
};

/** One history of messages, and the calls that it comes of. */
export type Thread = { readonly said: readonly Said[]; readonly calls: readonly Call[] };

/** A thread to which calls are added. */
type OpenThread = {
  readonly said: Said[];
  readonly calls: Call[];
  /** The number of each message, and of the history up to it. What says the same has the same number. */
  readonly messages: number[];
  readonly histories: number[];
  /** The last message of the user. */
  user: string | undefined;
  /** The place of its last change among all changes. */
  changed: number;
  /** Its keys since then. */
  keys: ReadonlySet<string>;
};

/** The messages that a model was asked with, with their numbers. */
type Asked = Pick<OpenThread, 'messages' | 'histories'> & { readonly said: readonly Said[] };

/** A thread that a call continues, and what of the call's messages it has. */
type Continued = { readonly thread: OpenThread; readonly known: number; readonly isDecorated?: boolean };

/**
 * Sorts the calls of a model into threads: a call extends the thread that it repeats or continues, and begins another one
 * otherwise. Threads are found by what they end with, so that each of many calls takes as long as each of a few.
 */
export class Threads {
  readonly #all: OpenThread[] = [];
  readonly #numbers = new Map<string | Step, number>();
  readonly #byKey = new Map<string, OpenThread[]>();
  /** Threads by the history up to each of their messages. */
  readonly #byHistory = new Map<number, OpenThread[]>();
  /** The traces of the last calls of threads, by the tools of these. */
  readonly #traces = new Map<string, Set<string>>();
  /** The numbers of the histories of calls with what was said. */
  readonly #ends = new Map<Call, number>();
  #last: OpenThread | undefined;
  readonly #hasHistories: boolean;

  /** @param hasHistories whether the program repeats earlier turns in its requests */
  constructor(hasHistories: boolean) {
    this.#hasHistories = hasHistories;
  }

  /** Returns the threads. The one that was changed last is the last. */
  all(): readonly Thread[] {
    return this.#all.toSorted((a, b) => a.changed - b.changed);
  }

  add(call: Call): void {
    const asked: Asked = { said: call.asked, ...this.#numbered(call.asked) };
    const continued = this.#extended(asked) ?? this.#decorated(asked);
    if (continued) {
      const { thread, known, isDecorated } = continued;
      if (isDecorated) for (const list of [thread.said, thread.messages, thread.histories]) list.length = 0;
      if (isDecorated) thread.user = undefined;
      this.#end(thread, call, call.asked.slice(known));
      return;
    }
    const near = this.#nearest(asked);
    const next = near && (this.#hasHistories || !isNextTurn(call, near)) ? undefined : this.#followed(call);
    const thread = next ?? {
      said: [],
      calls: [],
      messages: [],
      histories: [],
      user: undefined,
      changed: 0,
      keys: new Set(),
    };
    if (!next) this.#all.push(thread);
    if (near && !next) {
      const within = new Set(asked.histories);
      thread.calls.push(...near.calls.filter((each) => within.has(this.#ends.get(each) ?? 0)));
    }
    this.#end(thread, call, next && isRetry(call, next.calls.at(-1)) ? [] : call.asked);
  }

  #number(key: string | Step): number {
    const number = this.#numbers.get(key) ?? this.#numbers.size + 1;
    this.#numbers.set(key, number);
    return number;
  }

  /** Returns the numbers of messages, and of the histories that end with them. */
  #numbered(said: readonly Said[], before = 0): Pick<OpenThread, 'messages' | 'histories'> {
    let history = before;
    const messages = said.map((each) => this.#number(keyOf(each)));
    const histories = messages.map((message) => {
      history = this.#number(`${history} ${message}`);
      return history;
    });
    return { messages, histories };
  }

  /** Adds a call with those of its messages that a thread does not have yet. */
  #end(thread: OpenThread, call: Call, asked: readonly Said[]): void {
    const said = [...asked, ...call.said];
    const { messages, histories } = this.#numbered(said, thread.histories.at(-1));
    thread.said.push(...said);
    thread.user = said.findLast(({ role }) => role === 'user')?.content ?? thread.user;
    thread.messages.push(...messages);
    thread.histories.push(...histories);
    for (const history of histories) listAt(this.#byHistory, history).push(thread);
    thread.calls.push(call);
    this.#ends.set(call, this.#numbered([...call.asked, ...call.said]).histories.at(-1) ?? 0);
    thread.changed = this.#ends.size;
    const { agent, turn, tools } = this.#callKeysOf(call);
    const { trace } = call.step;
    this.#traces.set(tools, (this.#traces.get(tools) ?? new Set()).add(trace));
    thread.keys = new Set(
      [...this.#keysOfEnd(thread), agent, turn, keyOfTrace(tools, trace)].flatMap((key) => key ?? []),
    );
    for (const key of thread.keys) {
      const list = listAt(this.#byKey, key);
      if (list.at(-1) !== thread) list.push(thread);
    }
    this.#last = thread;
  }

  #keysOfEnd({ said, messages, histories, user }: OpenThread): readonly string[] {
    const [before, last = 0] = messages.slice(-2);
    const isUsers = said.at(-1)?.role === 'user';
    return [
      keyOfWhole(histories.at(-1)),
      ...(messages.length > 1 ? [keyOfEnd(before, last)] : []),
      ...(user === undefined ? [] : this.#keysOfLines(messages.length, isUsers ? 0 : last, user)),
    ];
  }

  /** Returns the keys of a history that may have lines in addition, by the first and the last line of its last user. */
  #keysOfLines(length: number, last: number, user: string): readonly string[] {
    const lines = user.trim();
    const [first, end] = [lines.slice(0, lines.search(/\n|$/)), lines.slice(lines.lastIndexOf('\n') + 1)];
    return [`first ${first}`, `last ${end}`].map((line) => `lines ${length} ${last} ${this.#number(line)}`);
  }

  /** Returns what the last call of a thread and one that continues it without its messages have in common. */
  #callKeysOf({ step, system, tools, agent }: Call): CallKeys {
    const { trace, conversation } = step;
    const kind = this.#number(`kind ${JSON.stringify([system, tools])}`);
    const own = agent ? this.#number(agent) : 0;
    const isAlone = system + tools === '';
    const isTurn = isAlone && agent === undefined && conversation !== undefined && step.parent === '';
    const ofAgent = agent && agent.conversation !== undefined && agent.parent === '';
    return {
      agent: isAlone
        ? isTurn
          ? keyOfPlace('alone', trace, conversation)
          : undefined
        : keyOfPlace('agent', trace, own, kind),
      turn: ofAgent ? keyOfPlace('turn', trace, agent.name, kind, agent.conversation) : undefined,
      tools: keyOfPlace('tools', tools, tools === '' ? system : null),
    };
  }

  /** Returns the last thread that a call without earlier messages continues. */
  #followed(call: Call): OpenThread | undefined {
    const { asked, step, agent: own } = call;
    if (asked.length === 0 || asked[0]?.role === 'tool') return this.#last;
    const { agent, turn, tools } = this.#callKeysOf(call);
    const others = [...(this.#traces.get(tools) ?? [])].filter((trace) => trace !== step.trace);
    const found = [
      this.#lastAt(agent),
      this.#lastAt(turn, ({ calls }) => calls.at(-1)?.agent !== own),
      ...others.map((trace) => {
        const other = this.#lastAt(keyOfTrace(tools, trace));
        if (!other) this.#traces.get(tools)?.delete(trace);
        return other;
      }),
    ];
    return found.flatMap((each) => each ?? []).toSorted((a, b) => b.changed - a.changed)[0];
  }

  /** Returns the threads that still have a key, in the order in which they got it. */
  #at(key: string): readonly OpenThread[] {
    const own = (this.#byKey.get(key) ?? []).filter(({ keys }) => keys.has(key));
    if (own.length > 0) this.#byKey.set(key, own);
    else this.#byKey.delete(key);
    return own;
  }

  /** Returns the last thread with a key that fits. */
  #lastAt(key: string | undefined, fits: (thread: OpenThread) => boolean = () => true): OpenThread | undefined {
    if (key === undefined) return undefined;
    const list = this.#byKey.get(key) ?? [];
    while (list.at(-1)?.keys.has(key) === false) list.pop();
    return list.findLast((each) => each.keys.has(key) && fits(each));
  }

  /**
   * Returns the thread that is the start of what a model was asked with. A window of the history that slides leaves out its
   * first messages: then at least two are the same.
   */
  #extended({ messages, histories }: Asked): Continued | undefined {
    for (let known = messages.length; known > 0; known -= 1) {
      const key = keyOfWhole(histories[known - 1]);
      const thread = firstIn(this.#byKey.get(key), ({ keys }) => keys.has(key));
      if (thread) return { thread, known };
    }
    const found: (Continued & { readonly from: number })[] = [];
    for (let known = 2; known <= messages.length; known += 1)
      for (const thread of this.#at(keyOfEnd(messages[known - 2], messages[known - 1]))) {
        const from = thread.messages.length - known;
        const isEnd = from > 0 && messages.slice(0, known).every((each, at) => each === thread.messages[from + at]);
        if (isEnd) found.push({ thread, known, from });
      }
    const byFit = (a: (typeof found)[number], b: typeof a) =>
      a.from - b.from || b.known - a.known || a.thread.changed - b.thread.changed;
    return found.toSorted(byFit)[0];
  }

  /**
   * Returns the thread that is the start of what a model was asked with, apart from lines that its messages of the user
   * have in addition: programs add the time or what they found to the last one, for one call only.
   */
  #decorated({ said, messages }: Asked): Continued | undefined {
    let user: string | undefined;
    const found = said.flatMap((each, at): readonly OpenThread[] => {
      if (each.role === 'user') user = each.content;
      if (user === undefined) return [];
      const last = each.role === 'user' ? 0 : (messages[at] ?? 0);
      return this.#keysOfLines(at + 1, last, user).flatMap((key) => this.#at(key));
    });
    const own = found.filter((thread) => isDecorated(thread.said, said));
    const [thread] = own.toSorted((a, b) => a.changed - b.changed);
    return thread && { thread, known: 0, isDecorated: true };
  }

  /** Returns the first thread of those that have the most messages in common with what a model was asked with. */
  #nearest({ histories }: Asked): OpenThread | undefined {
    for (let at = histories.length - 1; at >= 0; at -= 1) {
      const near = firstIn(this.#byHistory.get(histories[at] ?? 0), (thread) => thread.histories[at] === histories[at]);
      if (near) return near;
    }
    return undefined;
  }
}

/**
 * Returns whether a call without a history says something once more, rather than tries again: a program tries again in
 * the same trace, under the same parent or after a failure.
 */
function isNextTurn({ step }: Call, { calls }: Thread): boolean {
  const { trace, parent } = step;
  const isAgain = calls.some((each) => each.step.trace === trace || (parent !== '' && each.step.parent === parent));
  return !isAgain && !calls.every((each) => each.step.isError);
}

/** Returns whether a call asks what the call before it asked, which failed without an answer. */
const isRetry = ({ asked }: Call, before: Call | undefined): boolean =>
  before?.step.isError === true &&
  before.said.length === 0 &&
  before.asked.map(keyOf).join('\n') === asked.map(keyOf).join('\n');

/** Returns whether the messages of a request have an earlier turn: what a user says comes after an answer. */
export function repeatsHistory({ asked }: Call): boolean {
  const answer = asked.findIndex(({ role }) => role === 'agent');
  return answer >= 0 && asked.findLastIndex(({ role }) => role === 'user') > answer;
}

/** The keys of the last call of a thread: its agent, the turn of an agent with its name, and its tools. */
type CallKeys = { readonly agent: string | undefined; readonly turn: string | undefined; readonly tools: string };

const keyOfWhole = (history: number | undefined) => `whole ${history}`;
const keyOfEnd = (before: number | undefined, last: number | undefined) => `end ${before} ${last}`;
const keyOfPlace = (...parts: readonly (string | number | null)[]) => JSON.stringify(parts);
const keyOfTrace = (tools: string, trace: string) => keyOfPlace('trace', tools, trace);

/** Returns the first thread of a list that is still of it. Those before it are taken out. */
function firstIn(list: OpenThread[] | undefined, isOf: (thread: OpenThread) => boolean): OpenThread | undefined {
  const at = list?.findIndex(isOf) ?? -1;
  if (at > 0) list?.splice(0, at);
  return at < 0 ? undefined : list?.[0];
}

/** Reports whether a history is the start of another one, apart from lines that its messages of the user have in addition. */
function isDecorated(history: readonly Said[], asked: readonly Said[]): boolean {
  if (history.length > asked.length) return false;
  return history.every((each, at) => {
    const other = asked[at];
    if (other && keyOf(each) === keyOf(other)) return true;
    if (each.role !== 'user' || other?.role !== 'user' || other.content.trim() === '') return false;
    return each.content.startsWith(`${other.content.trim()}\n`) || each.content.endsWith(`\n${other.content.trim()}`);
  });
}
