import type { Conversation, ImportProblem, Read } from '../conversation.ts';
import { readOf } from '../conversationReader.ts';
import { keyOf, prefixesOf } from '../history.ts';
import { objectOf, type Said } from '../saidMessage.ts';
import { conversationOf, type PlacedRead } from '../transcript.ts';
import { byTime } from './otlp.ts';
import type { CalledTool, Step } from './step.ts';
import { type Call, repeatsHistory, type Thread, Threads } from './threads.ts';

/**
 * Rebuilds conversations from the spans of traces. Spans of one conversation id are one conversation, without an id those
 * of a trace, of the traces that it links to, and of earlier ones whose whole history it repeats. Of all histories that
 * the calls of the model have, the longest one is the conversation. Calls that are not on it, such as a title that is
 * written beside it, the work of an agent inside of a tool or an attempt that was abandoned, are notes.
 * @param silence says why the spans of a conversation hold no messages
 */
export function conversationsIn(given: readonly Step[], silence: (id: string, steps: readonly Step[]) => string): Read {
  const steps = withoutCopies(given);
  const tree = treeOf(steps);
  const conversations: Conversation[] = [];
  const problems: ImportProblem[] = [];
  const notes: ImportProblem[] = [];
  const groups = groupsOf(steps, tree).map((group) => rebuilt(group, tree));
  for (const { id, steps: sorted, threads } of withHistories(groups, tree)) {
    const [first] = sorted;
    if (!first) continue;
    if (threads === null) {
      const { file, line } = first;
      const models = sorted.filter(({ kind }) => kind === 'chat' || kind === 'agent');
      const hasFailed = models.length > 0 && models.every(({ isError }) => isError);
      if (hasFailed) notes.push({ file, line, message: `every call of the model in ${id} failed; it is left out` });
      else problems.push({ file, line, message: silence(id, sorted) });
      continue;
    }
    const { main, others, left } = threads;
    const shown = [main, ...others];
    const executed = executedIn(sorted);
    for (const [index, thread] of shown.entries())
      conversations.push(conversationFrom(index === 0 ? id : `${id}-${index + 1}`, thread, executed));
    notes.push(...left, ...silentFailures(sorted, tree));
  }
  return readOf(conversations, problems, notes);
}

/** Leaves out spans that were exported again: of each, the one with the most messages stays, and of such the last. */
function withoutCopies(steps: readonly Step[]): readonly Step[] {
  const kept = new Map<string, Step>();
  const messageCount = ({ input, output }: Step) => input.length + output.length;
  for (const [at, step] of steps.entries()) {
    const key = step.id === '' ? `${at}` : JSON.stringify([step.trace, step.id, step.conversation]);
    const known = kept.get(key);
    if (!known || messageCount(step) >= messageCount(known)) kept.set(key, step);
  }
  return [...kept.values()];
}

type Tree = {
  readonly parentOf: (step: Step) => Step | undefined;
  readonly rootAgentOf: (step: Step) => Step | undefined;
};

const keyIn = (trace: string, id: string) => `${trace}/${id}`;

function treeOf(steps: readonly Step[]): Tree {
  const byId = new Map(steps.map((each) => [keyIn(each.trace, each.id), each]));
  const parentOf = ({ trace, parent }: Step) => (parent === '' ? undefined : byId.get(keyIn(trace, parent)));
  return { parentOf, rootAgentOf: (step) => ancestorsOf(step, parentOf).findLast(({ kind }) => kind === 'agent') };
}

/** The spans that a span is inside of, the innermost first. */
function ancestorsOf(step: Step, parentOf: Tree['parentOf']): readonly Step[] {
  const found: Step[] = [];
  for (let at = parentOf(step); at && !found.includes(at); at = parentOf(at)) found.push(at);
  return found;
}

/** Spans of one conversation in the order of their time; `isNamed` where they name it themselves. */
type Group = { readonly id: string; readonly steps: readonly Step[]; readonly isNamed: boolean };

function groupsOf(steps: readonly Step[], tree: Tree): readonly Group[] {
  const named = new Map<string, Set<string>>();
  const links = new Map<string, string>();
  for (const { trace, conversation, links: to } of steps) {
    if (conversation !== undefined) named.set(trace, (named.get(trace) ?? new Set()).add(conversation));
    for (const other of to) if (other !== trace) links.set(trace, other);
  }
  const groupOf = (trace: string): string => {
    const seen = new Set<string>();
    for (let at = trace; ; at = links.get(at) ?? '') {
      const [id, ...others] = named.get(at) ?? [];
      if (id !== undefined && others.length === 0) return id;
      seen.add(at);
      const next = links.get(at);
      if (next === undefined || seen.has(next)) return at;
    }
  };
  const groups = new Map<string, Step[]>();
  for (const step of steps) {
    const own = step.conversation ?? ancestorsOf(step, tree.parentOf).find((each) => each.conversation)?.conversation;
    const id = own ?? (groupOf(step.trace) || step.id);
    const group = groups.get(id);
    if (group) group.push(step);
    else groups.set(id, [step]);
  }
  return [...groups].map(([id, own]) => ({
    id,
    steps: own.toSorted(byTime),
    isNamed: own.some(({ conversation }) => conversation === id),
  }));
}

/**
 * Adds to each group without its own name the earlier one whose whole history is the start of its history: a program
 * that keeps the history itself, and tries again what failed, begins a trace with each turn. A group is added once, so
 * that of conversations which begin alike one stays for each that does not continue.
 */
function withHistories(groups: readonly Rebuilt[], tree: Tree): readonly Rebuilt[] {
  const left: (Rebuilt | null)[] = [...groups];
  const added = new Map<number, Step[]>();
  /** Places of groups in that list by their whole history. */
  const placesOf = new Map<string, number[]>();
  const order = groups.flatMap((group, place) => (group.isNamed ? [] : [{ group, place }]));
  for (const { group, place } of order.toSorted((a, b) => byTime(firstOf(a.group), firstOf(b.group)))) {
    const histories = prefixesOf(group.threads?.main.said ?? []);
    const hasEnded = (other: number) =>
      byTime((added.get(other) ?? left[other]?.steps)?.at(-1) ?? noTime, firstOf(group)) <= 0;
    const earlier = takeLast(
      histories.slice(0, -1).map((history) => placesOf.get(history) ?? []),
      hasEnded,
    );
    const begun = earlier === undefined ? null : left[earlier];
    if (earlier !== undefined && begun) {
      left[place] = null;
      added.set(earlier, added.get(earlier) ?? [...begun.steps]);
      added.get(earlier)?.push(...group.steps);
    }
    const history = histories.at(-1);
    if (history === undefined) continue;
    const places = placesOf.get(history);
    if (places) places.push(earlier ?? place);
    else placesOf.set(history, [earlier ?? place]);
  }
  return left.flatMap((group, place) => {
    const steps = added.get(place);
    return group === null ? [] : [steps ? rebuilt({ ...group, steps }, tree) : group];
  });
}

/** Takes the last number that fits out of the last list that has one. */
function takeLast(lists: readonly number[][], fits: (each: number) => boolean): number | undefined {
  for (const list of lists.toReversed()) {
    const at = list.findLastIndex(fits);
    if (at >= 0) return list.splice(at, 1)[0];
  }
  return undefined;
}

const noTime = { time: '' };
const firstOf = ({ steps }: Pick<Group, 'steps'>) => steps[0] ?? noTime;

const isSystem = ({ role }: Said) => role === 'system';
const hasWords = ({ input, output }: Step) => [...input, ...output].some((each) => !isSystem(each));

/** The calls of the model. An agent tells again what its calls told; without calls, its own messages are taken. */
function callsIn(steps: readonly Step[], tree: Tree): readonly Call[] {
  const chats = steps.filter((each) => each.kind === 'chat' && hasWords(each));
  const covered = new Set(chats.flatMap((each) => ancestorsOf(each, tree.parentOf)));
  const agents = steps.filter((each) => each.kind === 'agent' && hasWords(each) && !covered.has(each));
  const inner = new Set(agents.flatMap((each) => ancestorsOf(each, tree.parentOf)));
  const own = chats.length > 0 ? [] : agents.filter((each) => !inner.has(each));
  const found =
    chats.length + own.length > 0
      ? [...chats, ...own]
      : steps.filter((each) => each.kind === 'other' && hasWords(each));
  return found.toSorted(byTime).map((step) => ({
    step,
    system: step.input.flatMap((each) => (isSystem(each) ? [each.content ?? ''] : [])).join('\n\n'),
    tools: (step.tools ?? [])
      .map(({ name }) => name)
      .toSorted()
      .join(','),
    asked: step.input.filter((each) => !isSystem(each)),
    said: step.output.filter((each) => !isSystem(each)),
    agent: ancestorsOf(step, tree.parentOf).find(({ kind }) => kind === 'agent'),
  }));
}

/** A group with what its calls tell; null where they tell nothing. */
type Rebuilt = Group & { readonly threads: Sorted | null };

function rebuilt(group: Group, tree: Tree): Rebuilt {
  const calls = callsIn(group.steps, tree);
  return { ...group, threads: calls.length > 0 ? threadsOf(calls, tree, group.isNamed) : null };
}

type Sorted = { readonly main: Thread; readonly others: readonly Thread[]; readonly left: readonly ImportProblem[] };

function threadsOf(calls: readonly Call[], tree: Tree, isNamed: boolean): Sorted {
  const isBeside = besideOf(calls, tree);
  const onLine = calls.filter((call) => !isBeside(call));
  const taking = onLine.length > 0 ? onLine : calls;
  const sorted = new Threads(taking.some(repeatsHistory));
  for (const call of taking) sorted.add(call);
  const threads = sorted.all();
  const ranks = new Map(threads.map((thread, at) => [thread, rankOf(thread, at, threads)]));
  const [best = { said: [], calls: [] }, ...rest] = threads.toSorted(
    (a, b) => b.said.length - a.said.length || (ranks.get(b) ?? 0) - (ranks.get(a) ?? 0),
  );
  const rootOf = (thread: Thread) => thread.calls[0] && tree.rootAgentOf(thread.calls[0].step);
  const taken = new Set(best.calls);
  const others: Thread[] = [];
  for (const thread of rest) {
    const isOther =
      !isNamed &&
      rootOf(thread) !== undefined &&
      rootOf(thread) !== rootOf(best) &&
      thread.calls.every((call) => !taken.has(call));
    if (!isOther) continue;
    others.push(thread);
    for (const call of thread.calls) taken.add(call);
  }
  const abandoned = unansweredIn([...taken]);
  const left = calls.flatMap((call) => {
    if (!taken.has(call)) return [leftOut(call, best, isBeside(call), tree)];
    return abandoned.has(call) ? [attemptNote(call.step)] : [];
  });
  return { main: best, others: others.toSorted((a, b) => byTime(startOf(a), startOf(b))), left };
}

const startOf = ({ calls: [first] }: Thread) => first?.step ?? noTime;

/** Of histories that are as long, the one without an error, then the one of the first call's agent, then the later one. */
function rankOf(thread: Thread, at: number, threads: readonly Thread[]): number {
  const last = thread.calls.at(-1);
  const first = threads[0]?.calls[0];
  const isSame = last?.system === first?.system && last?.tools === first?.tools;
  return (last?.step.isError ? 0 : 4 * threads.length) + (isSame ? 2 * threads.length : 0) + at;
}

/** Calls that the tree puts beside the conversation: inside of a tool, or outside of the agent that the others are in. */
function besideOf(calls: readonly Call[], tree: Tree): (call: Call) => boolean {
  const first = calls.find(({ agent, tools }) => agent !== undefined || tools !== '') ?? calls[0];
  const withTools = calls.find(({ tools }) => tools !== '');
  const hasAgents = calls.some(({ agent }) => agent !== undefined);
  return ({ step, agent, tools, system }) => {
    if (ancestorsOf(step, tree.parentOf).some(({ kind }) => kind === 'tool')) return true;
    if (hasAgents && agent === undefined) return true;
    return withTools !== undefined && tools === '' && ![first, withTools].some((each) => each?.system === system);
  };
}

/** Returns calls without an answer that failed, or that another call repeats. */
function unansweredIn(calls: readonly Call[]): ReadonlySet<Call> {
  const silent = calls.filter(({ said }) => said.length === 0);
  const keyOfAsked = ({ asked }: Call) => JSON.stringify(asked.map(keyOf));
  const asked = Map.groupBy(silent.length > 0 ? calls : [], keyOfAsked);
  const isRepeated = (call: Call) => (asked.get(keyOfAsked(call))?.length ?? 0) > 1;
  return new Set(silent.filter((call) => call.step.isError || isRepeated(call)));
}

/** Returns failed spans of a model without any message, and failed runs of an agent in which nothing was called. */
function silentFailures(steps: readonly Step[], tree: Tree): readonly ImportProblem[] {
  const called = steps.filter(({ kind }) => kind === 'chat' || kind === 'tool');
  const isAround = new Set(called.flatMap((each) => ancestorsOf(each, tree.parentOf)));
  const runs = steps.filter((each) => each.kind === 'agent' && each.output.length === 0 && !isAround.has(each));
  const outer = new Set(runs.flatMap((each) => ancestorsOf(each, tree.parentOf)));
  const failed = [
    ...steps.filter((each) => each.kind === 'chat' && !hasWords(each)),
    ...(called.length > 0 ? runs.filter((each) => hasWords(each) && !outer.has(each)) : []),
  ];
  return failed.filter(({ isError }) => isError).map(attemptNote);
}

function attemptNote(step: Step): ImportProblem {
  const what = step.isError ? 'an attempt that failed' : 'an attempt that was abandoned';
  return { ...fileLineOf(step), message: `${spanOf(step)} is ${what}, without an answer; it is left out` };
}

const fileLineOf = ({ file, line }: Step) => ({ file, line });
const spanOf = ({ id, name }: Step) => `span ${id}${name === '' ? '' : ` (${name})`}`;

function leftOut({ step, asked, system }: Call, main: Thread, isBeside: boolean, tree: Tree): ImportProblem {
  const tool = ancestorsOf(step, tree.parentOf).find(({ kind }) => kind === 'tool');
  const isOfMain = !isBeside && main.calls.some((each) => each.system === system);
  const isAttempt = isOfMain && asked.length > 0 && overlapOf(main.said, asked) === asked.length;
  const what = tool
    ? `a call of the model inside of the tool ${tool.called?.name ?? tool.name}`
    : isAttempt
      ? 'an attempt that was abandoned'
      : 'a call of the model beside the conversation';
  return { ...fileLineOf(step), message: `${spanOf(step)} is ${what}; it is left out` };
}

/** Returns how many messages two histories have in common from their start. */
function overlapOf(one: readonly Said[], other: readonly Said[]): number {
  let count = 0;
  while (count < Math.min(one.length, other.length) && isSame(one[count], other[count])) count += 1;
  return count;
}

const isSame = (one: Said | undefined, other: Said | undefined) =>
  one !== undefined && other !== undefined && keyOf(one) === keyOf(other);

function conversationFrom(id: string, { said, calls }: Thread, executed: Executed): Conversation {
  const [first] = calls;
  const lineOf = new Map(
    calls.flatMap(({ step }) => [...step.input, ...step.output].map((each) => [each, step.line] as const)),
  );
  const { file = '', line = 1 } = first?.step ?? {};
  const told = calls.find(({ system }) => system !== '')?.system;
  const system: readonly Said[] = told === undefined ? [] : [{ role: 'system', content: told }];
  const whole = [...system, ...withResults(said, executed)];
  const placed = whole.map((each, index): PlacedRead => {
    return { said: [each], lost: [], line: lineOf.get(each) ?? line, path: `message ${index + 1}` };
  });
  const tools = calls.findLast(({ step }) => step.tools)?.step.tools;
  const read = conversationOf({ file, line, id: id === '' ? undefined : id, tools }, placed);
  const answered = calls.filter(({ step }) => !step.isError);
  const lost = new Map(answered.flatMap(({ step }) => step.lost.map((what) => [what, step] as const)).toReversed());
  return {
    ...read,
    lost: [
      ...[...lost].toReversed().map(([what, step]) => ({ file, line: step.line, message: `span ${step.id}: ${what}` })),
      ...read.lost,
    ],
  };
}

/** Results that only the spans of the tools have, by the id, the name, and the name with the arguments of their call. */
type Executed = {
  readonly byId: ReadonlyMap<string | undefined, readonly CalledTool[]>;
  readonly byName: ReadonlyMap<string, readonly CalledTool[]>;
  readonly byCall: ReadonlyMap<string, readonly CalledTool[]>;
};

const callKey = (name: string, given: string | undefined) => JSON.stringify([name, given]);

function executedIn(steps: readonly Step[]): Executed {
  const called = steps.flatMap(({ kind, called }) => (kind === 'tool' && called?.result ? [called] : []));
  return {
    byId: Map.groupBy(called, ({ id }) => id),
    byName: Map.groupBy(called, ({ name }) => name),
    byCall: Map.groupBy(called, ({ name, given }) => callKey(name, given)),
  };
}

/** Adds results that only the spans of the tools have, each behind its call: by id, by arguments, else by name in order. */
function withResults(said: readonly Said[], { byId, byName, byCall }: Executed): readonly Said[] {
  const told = new Set(said.flatMap((each) => (each.role === 'tool' ? [each.callId] : [])));
  const idsTold = new Set(said.flatMap((each) => (each.role === 'agent' ? each.calls.map(({ id }) => id) : [])));
  const used = new Set<CalledTool>();
  const isFree = (call: CalledTool) => !used.has(call);
  const isOfName = (call: CalledTool) => isFree(call) && (call.id === undefined || !idsTold.has(call.id));
  return said.flatMap((each, index) => {
    if (each.role !== 'agent') return [each];
    let end = index + 1;
    while (said[end]?.role === 'tool') end += 1;
    if (end - index - 1 >= each.calls.length) return [each];
    const results = each.calls.flatMap(({ id, name, arguments: given }): readonly Said[] => {
      if (id !== undefined && told.has(id)) return [];
      const ofName = byName.get(name) ?? [];
      const words = Object.values(objectOf(given)).map((value) => JSON.stringify(value));
      const own =
        (id === undefined ? undefined : byId.get(id)?.find(isFree)) ??
        byCall.get(callKey(name, JSON.stringify(given)))?.find(isOfName) ??
        ofName.find((call) => isOfName(call) && words.every((word) => call.given?.includes(word))) ??
        ofName.find(isOfName);
      if (!own?.result) return [];
      used.add(own);
      return [{ role: 'tool', callId: id, name, ...own.result }];
    });
    return [each, ...results];
  });
}
