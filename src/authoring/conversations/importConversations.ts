import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { Domain } from '../../engine/core/domain/domain.ts';
import { systemPrompt } from '../../engine/core/domain/policy.ts';
import type { Task } from '../../engine/core/domain/task.ts';
import { taskIn } from '../../engine/core/domain/taskVariant.ts';
import type { RolloutEvent, RolloutStarted } from '../../engine/core/events/event.ts';
import type { ToolCall } from '../../engine/core/events/message.ts';
import type { RolloutState } from '../../engine/core/events/state.ts';
import { differenceHash } from '../../engine/core/events/world.ts';
import { follow, type Setting, stateHash } from '../../engine/core/rollout/rollout.ts';
import type { MaskingMark } from '../../engine/core/text/maskingMark.ts';
import type { Json } from '../../engine/core/values/json.ts';
import { isWithin } from '../../engine/shell/files/boundedFile.ts';
import { breaks } from '../../engine/shell/files/breaks.ts';
import type { Receipt, SigningKey } from '../../engine/shell/records/ledger.ts';
import { chainStart, writeRecording } from '../../engine/shell/records/recording.ts';
import { recordingName, rolloutName } from '../../engine/shell/records/recordingName.ts';
import type { RunFile } from '../../engine/shell/records/runFile.ts';
import { runFileName } from '../../engine/shell/records/runFiles.ts';
import { baseHashOf, settingOf } from '../../engine/shell/replay.ts';
import { openRunOf } from '../../engine/shell/runs/batch.ts';
import type { Supervisor } from '../../engine/shell/supervisor.ts';
import { keptBy, knownFrom } from '../masking/database.ts';
import type { PersonalKind } from '../masking/kind.ts';
import { type Masked, type Masker, maskerOf, type Piece } from '../masking/masker.ts';
import { textsIn } from '../masking/text/texts.ts';
import { taskIdFor } from '../writtenDomain.ts';
import {
  type Conversation,
  eventsOf,
  gapsIn,
  type ImportProblem,
  type ReadConversations,
  systemOf,
} from './conversation.ts';
import { withoutLogEnding } from './logFolder.ts';
import { maskedConversation, maskedProblems, piecesOf, piecesOfPersons } from './maskedConversation.ts';
import type { RecognisedNames } from './recogniser.ts';
import { noTask, recorded, startOfConversation, withoutGreeting } from './recordedStart.ts';
import { refusal, throwIfStopped } from './refusal.ts';

export type ConversationsOptions = {
  readonly from: 'chats' | 'spans';
  /** The folder of the new run. */
  readonly folder: string;
  readonly key: SigningKey;
  /** The seed from which the stand-ins are drawn; null keeps personal data unchanged. */
  readonly seed: string | null;
  /** Names that a recogniser found in the texts of the conversations. */
  readonly recognised?: RecognisedNames | undefined;
  /** Whether values of the domain's database are masked as well: it is a copy of the real one. */
  readonly masksDatabase: boolean;
  /** Folders whose files are named by their path in them. */
  readonly folders?: readonly string[];
  readonly signal: AbortSignal;
  /** Called after each conversation that was looked at for names, and again after each that was written. */
  readonly onProgress?: (done: number, total: number, what: 'looked at' | 'written') => void;
};

/** The result of importing conversations. */
export type ConversationsReport = {
  readonly folder: string;
  readonly domain: string;
  readonly recordings: readonly {
    readonly recording: string;
    /** The position in a log at which its conversation begins. */
    readonly file: string;
    readonly line: number;
    readonly messages: number;
    readonly calls: number;
  }[];
  readonly problems: readonly ImportProblem[];
  /** Parts left out on purpose. */
  readonly notes: readonly ImportProblem[];
  /** System messages that are the domain's policy, those that differ from it, and conversations without one. */
  readonly system: { readonly same: number; readonly differs: number; readonly none: number };
  /** Different values that were masked, by kind; null where personal data was kept. */
  readonly masked: Readonly<Partial<Record<PersonalKind, number>>> | null;
};

const seed = 'imported';

/**
 * A secret of this machine: the same person gets the same stand-in in every import, and no one else can work it out.
 */
export function maskingSeed({ privateKey }: SigningKey): string {
  const secret = privateKey.export({ type: 'pkcs8', format: 'der' });
  return createHash('sha256').update('masking').update(secret).digest('hex');
}

/**
 * Writes conversations as recordings of a domain, in their own run, a file for each. Nothing is called, verified or
 * rewarded: what the world was like is in no log, so the domain's own database stays as it is at each step.
 */
export async function importConversations(
  supervisor: Supervisor,
  read: ReadConversations,
  options: ConversationsOptions,
): Promise<ConversationsReport> {
  const { domain, loaded } = supervisor;
  const { folder, signal, onProgress } = options;
  if (existsSync(join(folder, runFileName)))
    throw refusal('there', `${folder} already contains a run. Choose another --out`);
  const before = existsSync(folder) ? readdirSync(folder) : null;
  const masker = maskerFor(supervisor, options);
  const pause = breaks(turnMs);
  const pieces: (readonly Piece[])[] = [];
  masker?.look(piecesOfPersons(read));
  for (const each of read.conversations) {
    pieces.push(piecesOf(each));
    masker?.look(pieces.at(-1) ?? []);
    onProgress?.(pieces.length, read.conversations.length, 'looked at');
    await pause();
    throwIfStopped(signal);
  }
  const unread = masker?.conversation([]);
  const problems = maskedProblems(read.problems, unread);
  const notes = maskedProblems(read.notes, unread);
  const [first] = problems;
  if (read.conversations.length === 0)
    throw refusal('empty', first ? `${first.file}:${first.line}: ${first.message}` : 'there is no conversation in it');
  const setting = settingOf({ domain, world: loaded.world });
  // From here on only what is masked is at hand: no code below can write what a log says.
  const masked = read.conversations.map((each, at) =>
    unwritten(each, masker?.conversation(pieces[at] ?? []), options.folders ?? []),
  );
  const named = namesOf(domain, masked);
  const file = runFileFor(supervisor, named, options);
  const planned = named.map(({ id, trial }) => rolloutName({ id }, trial));
  const run = openRunOf(folder, file, planned, options.key);
  const database = baseHashOf(loaded);
  const system = { same: 0, differs: 0, none: 0 };
  const recordings: ConversationsReport['recordings'][number][] = [];
  const told = [...problems];
  const closed: Promise<Receipt>[] = [];
  const receive = async () => run.receive(...(await Promise.all(closed.splice(0))));
  for (const each of named) {
    if (signal.aborted) {
      await Promise.allSettled(closed);
      remove(folder, before);
    }
    throwIfStopped(signal);
    const written = writtenOf(each);
    const { conversation, id, trial } = written;
    const start = startFor(domain, database, written, options);
    system[comparedSystem(domain, written)] += 1;
    const events = [start, ...conversationEvents(written, domain)];
    const recording = join(folder, recordingName(rolloutName({ id }, trial)));
    const { state, chain } = record(recording, events, setting);
    const { task, policyHash, basis } = start;
    const databaseDiff = differenceHash(setting.world, state.world);
    const end = { reward: null, endReason: state.ended?.reason ?? 'userStopped', databaseDiff };
    const rollout = `${id}.${trial}`;
    const of = { rollout, recording: basename(recording), task: { id: task.id, hash: task.hash } };
    const content = { ...of, trial, seed, policyHash, basis, ...end };
    const receipt = chain.then((head) => ({ ...content, chain: head, sidecarChain: chainStart }));
    // A disk that refuses is reported when the receipts are awaited.
    receipt.catch(() => undefined);
    closed.push(receipt);
    if (closed.length >= atOnce) await receive();
    const calls = events.filter(({ type }) => type === 'toolCalled').length;
    const place = { file: each.path, line: each.line };
    recordings.push({ recording, ...place, messages: conversation.messages.length, calls });
    told.push(...problemsOf(domain, written));
    onProgress?.(recordings.length, named.length, 'written');
    await pause();
  }
  await receive();
  run.finish();
  return { folder, domain: domain.name, recordings, problems: told, notes, system, masked: masker?.counts() ?? null };
}

/** Removes what an import has written to a folder, and the folder where it was not there before. */
function remove(folder: string, before: readonly string[] | null): void {
  const written = before ? readdirSync(folder).filter((name) => !before.includes(name)) : [''];
  for (const name of written) rmSync(join(folder, name), { recursive: true, force: true });
}

/** The time that an import runs before it checks for a signal, in milliseconds. */
const turnMs = 50;

/** The recordings that are written while the next conversations are masked. */
const atOnce = 64;

function maskerFor(
  { domain, loaded }: Supervisor,
  { seed: own, masksDatabase, recognised }: ConversationsOptions,
): Masker | null {
  if (own === null) return null;
  const databases = [loaded.world.agent, loaded.world.user];
  const known = masksDatabase ? knownFrom(databases, ownTexts(domain)) : keptBy(databases, ownTexts(domain));
  return maskerOf({ seed: own, ...known, ...(recognised ? { recognised: recognised.spansIn } : {}) });
}

/** Returns what the files of a domain say to its agent: anyone who has the domain has it. */
function ownTexts({ policy, tools, tasks }: Domain): readonly string[] {
  const told = tools.map(({ name, description, parameters }): Json => ({ name, description, parameters }));
  return [policy.text.trim(), ...textsIn(told), ...tasks.map(({ id }) => id)];
}

/** A conversation that was not written yet: its masked name, and the path of the file that it is from. */
type Unwritten = {
  readonly id: string | null;
  readonly task: string | undefined;
  /** The name of its file. */
  readonly file: string;
  readonly line: number;
  readonly path: string;
  /** Returns the conversation as it is written. Only one at a time is in the memory twice. */
  readonly masked: () => Conversation;
};

function unwritten(conversation: Conversation, masked: Masked | undefined, folders: readonly string[]): Unwritten {
  const { file: path, line, id, task } = conversation;
  const folder = folders.find((each) => isWithin(each, path));
  const named = { ...conversation, file: folder === undefined ? basename(path) : relative(folder, path) };
  const text = masked?.text ?? ((given: string) => given);
  return {
    id: id === null ? null : text(id),
    task: task === undefined ? undefined : text(task),
    file: text(named.file),
    line,
    path,
    masked: () => (masked ? maskedConversation(named, masked) : named),
  };
}

/** A conversation under the name that its recording gets. */
type Named<Source = Unwritten> = Source & {
  readonly id: string;
  readonly trial: number;
  /** The task of the domain that it is of; null for most. */
  readonly ofTask: Task | null;
};

type Written = Named<{ readonly conversation: Conversation; readonly path: string }>;

const writtenOf = ({ masked, path, id, trial, ofTask }: Named): Written => ({
  ...{ conversation: masked(), path, id, trial, ofTask },
});

function namesOf(domain: Domain, conversations: readonly Unwritten[]): readonly Named[] {
  const taken = new Set(domain.tasks.flatMap(({ id }) => [id, id.toLowerCase()]));
  const trials = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const { path } of conversations) counts.set(path, (counts.get(path) ?? 0) + 1);
  return conversations.map((each) => {
    const task = taskIn(domain, each.task ?? '') ?? null;
    const trial = task ? (trials.get(task.id) ?? 0) : 0;
    if (task) trials.set(task.id, trial + 1);
    const own = each.id ?? placeName(each, counts.size > 1, (counts.get(each.path) ?? 0) > 1);
    return { ...each, id: task?.id ?? taskIdFor(own, taken), trial, ofTask: task };
  });
}

/** Names a conversation without an id by its place: by its file where there are several, and by its line in it. */
function placeName({ file, line }: Unwritten, hasFiles: boolean, hasOthers: boolean): string {
  if (!hasFiles) return `chat-${line}`;
  const name = withoutLogEnding(file).replace(/[\\/]/g, '-');
  return hasOthers ? `${name}-${line}` : name;
}

/** Returns what of a conversation is not as it should be, with the file in which a person finds it. */
function problemsOf(domain: Domain, { conversation, path }: Written): readonly ImportProblem[] {
  const all = [...conversation.lost, ...gapsIn(conversation), ...taskProblems(domain, conversation)];
  return all.map((each) => ({ ...each, file: path }));
}

function taskProblems(domain: Domain, { file, line, task }: Conversation): readonly ImportProblem[] {
  if (task === undefined || taskIn(domain, task)) return [];
  return [{ file, line, message: `the domain has no task "${task}"; the conversation is imported without one` }];
}

const bare = (text: string) => text.replace(/\s+/g, ' ').trim().toLowerCase();

/** Compares a system message with the policy, and with what the domain makes of it for the agent. */
function comparedSystem(domain: Domain, { conversation, id, ofTask }: Written): keyof ConversationsReport['system'] {
  const system = systemOf(conversation);
  if (system === null) return 'none';
  const own = [domain.policy.text, systemPrompt(domain, ofTask ?? { ...noTask, id })];
  return own.some((text) => bare(text) === bare(system)) ? 'same' : 'differs';
}

function startFor(
  domain: Domain,
  database: string,
  { conversation, id, trial, ofTask }: Written,
  options: ConversationsOptions,
): RolloutStarted {
  const { file, line } = conversation;
  const started = startOfConversation(domain, database, conversation, { id, trial, task: ofTask, seed });
  return { ...started, imported: { from: options.from, file, line, ...markOf(options) } };
}

/** Returns how far personal data is masked. */
function markOf({ seed: standIns, recognised }: ConversationsOptions): MaskingMark {
  return { masked: standIns !== null, ...(recognised ? { recogniser: recognised.recogniser } : {}) };
}

/** Returns what was said and done, with ids of calls that no one outside knows. */
function conversationEvents({ conversation }: Written, domain: Domain): readonly RolloutEvent[] {
  const ids = new Map<string, string>();
  const idOf = (id: string) => {
    const found = ids.get(id) ?? `call_${ids.size}`;
    ids.set(id, found);
    return found;
  };
  const events = eventsOf(withoutGreeting(conversation));
  const said = events.map(({ event }) => withCallIds(event, idOf));
  const last = said.findLast(({ type }) => type === 'toolCalled');
  const handsOff = (call: ToolCall) =>
    domain.tools.some(({ name, handsOff }) => handsOff === true && name === call.name);
  const isHandedOff = last?.type === 'toolCalled' && handsOff(last.call as ToolCall);
  const reason = 'a real conversation: it is of no task, so there is nothing to verify it against';
  return [
    { type: 'worldPrepared', writes: [] },
    ...said,
    { type: 'rolloutEnded', reason: isHandedOff ? 'handedOff' : 'userStopped' },
    { type: 'rewarded', basis: 'evaluate', reward: null, reason, failedBy: null },
  ];
}

function withCallIds(event: RolloutEvent, idOf: (id: string) => string): RolloutEvent {
  const renamed = <Call extends { readonly id: string }>(call: Call): Call => ({ ...call, id: idOf(call.id) });
  switch (event.type) {
    case 'agentReplied':
      return { ...event, toolCalls: event.toolCalls.map(renamed) };
    case 'toolCalled':
      return { ...event, call: renamed(event.call) };
    case 'toolReturned':
      return { ...event, callId: idOf(event.callId) };
    default:
      return event;
  }
}

function record(path: string, events: readonly RolloutEvent[], setting: Setting) {
  // What the rules would say needs the world as it was.
  const told = { ...setting, domain: { ...setting.domain, rules: [] } };
  let state: RolloutState | null = null;
  let [world, hash]: [RolloutState['world'] | null, string] = [null, ''];
  const lines = events.map((event, n) => {
    state = follow(told, state, event);
    // The world is that of the domain at each step.
    if (state.world !== world) [world, hash] = [state.world, stateHash(state)];
    return { n, event, state: hash };
  });
  if (state === null) throw new Error('a recording has events');
  return { state: state as RolloutState, chain: writeRecording(path, lines) };
}

function runFileFor({ domain, loaded }: Supervisor, named: readonly Named[], options: ConversationsOptions): RunFile {
  return {
    domain: domain.name,
    folder: loaded.folder,
    seed,
    trials: 1 + named.reduce((most, { trial }) => Math.max(most, trial), 0),
    basis: 'evaluate',
    agent: recorded,
    user: recorded,
    tasks: [...new Set(named.map(({ id }) => id))],
    tools: domain.tools.map(({ name, effect, generic = false, handsOff = false }) => ({
      name,
      effect,
      generic,
      handsOff,
    })),
    imported: markOf(options),
    policyHash: domain.policy.hash,
    publicKey: options.key.publicKey,
  };
}
