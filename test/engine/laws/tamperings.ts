import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openLedger, type Receipt, type SigningKey } from '../../../src/engine/shell/records/ledger.ts';
import { fileOf, linesOf, rechained, sha } from '../../support/recordLines.ts';

/** The material of a tampering: a copy of the run, another run with the same key, and two keys. */
export type Scene = {
  readonly folder: string;
  readonly other: string;
  readonly key: SigningKey;
  readonly stranger: SigningKey;
};

/** A kind of tampering with the folder of a run, and the file or rollout in which it is found. */
export type Tampering = {
  readonly name: string;
  readonly tamper: (scene: Scene) => void;
  /** The file or rollout that is named; null if the tampering cannot be found. */
  readonly names: string | null;
  /** The reason why it cannot be found. Some kinds can be found if the id of the run is known. */
  readonly reason?: string;
  readonly needsId?: true;
};

const rollout = 'lamp-variant.1';
const [recording, sidecar] = [`${rollout}.traj.jsonl`, `${rollout}.sidecar.jsonl`];
const twin = 'lamp-variant.0';
const fork = `${twin}.fork-1.traj.jsonl`;
const [about, ledger] = ['run.json', 'ledger.jsonl'];

type Line = { readonly n: number; readonly event: Record<string, unknown>; readonly state: string };
type Bytes = (bytes: Buffer) => Buffer | string;
type Lines = (lines: readonly string[]) => readonly string[];

const inFile =
  (name: string, change: Bytes) =>
  ({ folder }: Scene) =>
    writeFileSync(join(folder, name), change(readFileSync(join(folder, name))));
const onLines = (name: string, change: Lines) => inFile(name, (bytes) => fileOf(change(linesOf(bytes))));
const onText = (name: string, change: (text: string) => string) =>
  inFile(name, (bytes) => change(bytes.toString('utf8')));

/** Changes the first event of a type and removes its chain. */
const onEvent =
  (type: string, change: (event: Record<string, unknown>) => object): Lines =>
  (lines) => {
    const at = lines.findIndex((line) => line.includes(`"event":{"type":"${type}"`));
    const { event, ...line } = JSON.parse(lines[at] ?? '') as Line;
    const { n, ...rest } = { ...line, event: change(event) };
    return lines.with(at, JSON.stringify({ n, event: rest.event, state: rest.state, chain: '' }));
  };
/** Changes the first event of a type and recomputes the chain. */
const forged = (type: string, change: (event: Record<string, unknown>) => object) =>
  onLines(recording, (lines) => rechained(onEvent(type, change)(lines)));

const given = (name: string, tampering: (scene: Scene) => void, names: string): Tampering => ({
  name,
  tamper: tampering,
  names,
});
const inAbout = (change: (file: Record<string, unknown>) => object) =>
  onText(about, (text) => `${JSON.stringify(change(JSON.parse(text) as Record<string, unknown>), null, 2)}\n`);
const put =
  (from: string, name: string, into = name) =>
  ({ folder, other }: Scene) =>
    copyFileSync(join(from === 'other' ? other : folder, name), join(folder, into));
const drop =
  (...names: readonly string[]) =>
  ({ folder }: Scene) => {
    for (const name of names) rmSync(join(folder, name));
  };
const moved =
  (name: string, put: (elsewhere: string, path: string) => void) =>
  ({ folder }: Scene) => {
    const elsewhere = join(folder, '..', `elsewhere-${sha(folder)}`);
    renameSync(join(folder, name), elsewhere);
    put(elsewhere, join(folder, name));
  };
const isReceiptOf = (of: string) => (line: string) => line.includes(`{"receipt":{"rollout":"${of}"`);
const receiptIndex = (lines: readonly string[], of: string) => lines.findIndex(isReceiptOf(of));

/** Signs the whole ledger again with a key. The receipt of the rollout gets the chain of the recording as it is now. */
const resigned = (whose: 'key' | 'stranger') => (scene: Scene) => {
  const path = join(scene.folder, ledger);
  const lines = linesOf(readFileSync(path)).map(
    (line) => JSON.parse(line) as { receipt?: Receipt; run?: { hash: string; finished?: true } },
  );
  rmSync(path);
  const fresh = openLedger(path, scene[whose]);
  for (const { receipt, run } of lines) {
    if (receipt) fresh.receive(receipt.rollout === rollout ? { ...receipt, chain: headOf(scene.folder) } : receipt);
    else if (run) fresh.vouchFor(run);
  }
};
const headOf = (folder: string) =>
  (JSON.parse(linesOf(readFileSync(join(folder, recording))).at(-1) ?? '') as { chain: string }).chain;

const inRecording: readonly Tampering[] = [
  given(
    'a flipped bit',
    inFile(recording, (bytes) => bytes.with(900, (bytes[900] ?? 0) ^ 1) as Buffer),
    recording,
  ),
  given(
    'an added byte',
    inFile(recording, (bytes) => Buffer.concat([bytes, Buffer.from('x')])),
    recording,
  ),
  given(
    'a dropped byte',
    inFile(recording, (bytes) => Buffer.concat([bytes.subarray(0, 900), bytes.subarray(901)])),
    recording,
  ),
  given(
    'cut in the middle of a line',
    inFile(recording, (bytes) => bytes.subarray(0, 900)),
    recording,
  ),
  given(
    'a byte that is not UTF-8',
    inFile(recording, (bytes) => bytes.with(900, 0xff) as Buffer),
    recording,
  ),
  given(
    'a byte order mark',
    inFile(recording, (bytes) => Buffer.concat([Buffer.from('\ufeff'), bytes])),
    recording,
  ),
  given(
    'line ends of Windows',
    onText(recording, (text) => text.replaceAll('\n', '\r\n')),
    recording,
  ),
  given(
    'a dropped line',
    onLines(recording, (lines) => lines.toSpliced(3, 1)),
    recording,
  ),
  given(
    'a dropped last line',
    onLines(recording, (lines) => lines.slice(0, -1)),
    recording,
  ),
  given(
    'two swapped lines',
    onLines(recording, (lines) => lines.with(3, lines[4] ?? '').with(4, lines[3] ?? '')),
    recording,
  ),
  given(
    'a doubled line',
    onLines(recording, (lines) => lines.toSpliced(3, 0, lines[3] ?? '')),
    recording,
  ),
  given(
    'an empty line',
    onLines(recording, (lines) => lines.toSpliced(3, 0, '')),
    recording,
  ),
  given(
    'another spelling of the same JSON',
    onLines(recording, (lines) => lines.with(3, (lines[3] ?? '').replace('{', '{ '))),
    recording,
  ),
  given(
    'a changed text',
    onLines(
      recording,
      onEvent('agentReplied', (event) => ({ ...event, content: 'No.' })),
    ),
    recording,
  ),
  given(
    'a changed text, chained again',
    forged('agentReplied', (event) => ({ ...event, content: 'No.' })),
    recording,
  ),
  given(
    'a changed result of a tool, chained again',
    forged('toolReturned', (event) => ({ ...event, content: 'none' })),
    recording,
  ),
  given(
    'a changed write, chained again',
    forged('databaseWritten', (event) => ({ ...event, writes: [] })),
    recording,
  ),
  given(
    'a changed verdict, chained again',
    forged('verdictReached', (event) => ({ ...event, verdict: { ...(event['verdict'] as object), held: false } })),
    recording,
  ),
  given(
    'a changed reward, chained again',
    forged('rewarded', (event) => ({ ...event, reward: 0.5 })),
    recording,
  ),
  given(
    'a changed end, chained again',
    forged('rolloutEnded', (event) => ({ ...event, reason: 'turnCap' })),
    recording,
  ),
  given(
    'a changed system prompt, chained again',
    forged('rolloutStarted', (event) => ({ ...event, system: 'Refund all.' })),
    recording,
  ),
  given(
    'a changed seed, chained again',
    forged('rolloutStarted', (event) => ({ ...event, seed: 'z' })),
    recording,
  ),
  given(
    'a changed policy hash, chained again',
    forged('rolloutStarted', (event) => ({ ...event, policyHash: sha('z') })),
    recording,
  ),
  given(
    'a changed task, chained again',
    forged('rolloutStarted', (event) => ({ ...event, task: { ...(event['task'] as object), id: 'z' } })),
    recording,
  ),
  given(
    'a changed trial, chained again',
    forged('rolloutStarted', (event) => ({ ...event, trial: 7 })),
    recording,
  ),
  given(
    'a changed state hash, chained again',
    onLines(recording, (lines) => rechained(lines.map((line) => line.replace(/"state":"./, '"state":"f')))),
    recording,
  ),
  given(
    'events cut off, chained again',
    onLines(recording, (lines) => rechained(lines.slice(0, 9))),
    recording,
  ),
  given(
    'an event added behind the end, chained',
    onLines(recording, (lines) =>
      rechained([...lines, JSON.stringify({ ...(JSON.parse(lines[1] ?? '') as Line), n: lines.length })]),
    ),
    recording,
  ),
  given(
    'emptied',
    inFile(recording, () => ''),
    recording,
  ),
  given('removed', drop(recording), recording),
  given('removed with its sidecar', drop(recording, sidecar), recording),
  given('renamed', ({ folder }) => renameSync(join(folder, recording), join(folder, 'z.traj.jsonl')), recording),
  given('replaced by another trial', put('own', `${twin}.traj.jsonl`, recording), recording),
  given('replaced by the same rollout of another run', put('other', recording), recording),
  given('replaced by a link to a copy', moved(recording, symlinkSync), recording),
  given('replaced by a hard link', moved(recording, linkSync), recording),
  given(
    'replaced by a folder',
    moved(recording, (_, path) => mkdirSync(path)),
    recording,
  ),
  given(
    'replaced by a pipe',
    moved(recording, (_, path) => execFileSync('mkfifo', [path])),
    recording,
  ),
  given(
    'copied under the name of another trial',
    put('own', recording, 'lamp-variant.2.traj.jsonl'),
    'lamp-variant.2.traj.jsonl',
  ),
  given(
    'a recording of another run added',
    put('other', recording, 'lamp-variant.3.traj.jsonl'),
    'lamp-variant.3.traj.jsonl',
  ),
];

const inSidecar: readonly Tampering[] = [
  given('a sidecar removed', drop(sidecar), sidecar),
  given(
    'a changed time in a sidecar',
    onText(sidecar, (text) => text.replace(/"at":"20/, '"at":"19')),
    sidecar,
  ),
  given(
    'a changed time in a sidecar, chained again',
    onLines(sidecar, (lines) => rechained(lines.map((line) => line.replace(/"at":"20/, '"at":"19')))),
    sidecar,
  ),
  given(
    'lines of a sidecar cut off',
    onLines(sidecar, (lines) => lines.slice(0, 4)),
    sidecar,
  ),
  given('a sidecar of another run', put('other', sidecar), sidecar),
  given(
    'a sidecar without a recording added',
    put('own', sidecar, 'lamp-variant.4.sidecar.jsonl'),
    'lamp-variant.4.sidecar.jsonl',
  ),
];

const inRunFile: readonly Tampering[] = [
  given('run.json removed', drop(about), about),
  given(
    'another spelling of run.json',
    onText(about, (text) => text.replace('{', '{ ')),
    about,
  ),
  given(
    'another seat in run.json',
    inAbout((file) => ({ ...file, agent: 'openai:best' })),
    about,
  ),
  given(
    'a promised rollout removed from run.json',
    inAbout((file) => ({ ...file, planned: [] })),
    about,
  ),
  given(
    'another id in run.json',
    inAbout((file) => ({ ...file, id: 'z' })),
    about,
  ),
  given(
    'another public key in run.json',
    ({ folder, stranger }) => inAbout((file) => ({ ...file, publicKey: stranger.publicKey }))({ folder } as Scene),
    about,
  ),
  given('run.json of another run', put('other', about), about),
];

const inLedger: readonly Tampering[] = [
  given('the ledger removed', drop(ledger), ledger),
  given(
    'the ledger emptied',
    inFile(ledger, () => ''),
    recording,
  ),
  given(
    'a receipt dropped',
    onLines(ledger, (lines) => lines.toSpliced(receiptIndex(lines, rollout), 1)),
    ledger,
  ),
  given(
    'a receipt dropped with its recording',
    (scene) => {
      onLines(ledger, (lines) => lines.toSpliced(receiptIndex(lines, rollout), 1))(scene);
      drop(recording, sidecar)(scene);
    },
    ledger,
  ),
  given(
    'the last receipts dropped with their recordings',
    (scene) => {
      const lines = linesOf(readFileSync(join(scene.folder, ledger)));
      const at = receiptIndex(lines, rollout);
      const dropped = lines
        .slice(at)
        .flatMap((line) => (JSON.parse(line) as { receipt?: Receipt }).receipt?.rollout ?? []);
      writeFileSync(join(scene.folder, ledger), fileOf(lines.slice(0, at)));
      for (const each of dropped) drop(`${each}.traj.jsonl`, `${each}.sidecar.jsonl`)(scene);
    },
    rollout,
  ),
  given(
    'all receipts and recordings dropped',
    (scene) => {
      const lines = linesOf(readFileSync(join(scene.folder, ledger)));
      writeFileSync(join(scene.folder, ledger), fileOf(lines.slice(0, 1)));
      for (const line of lines) {
        const { receipt } = JSON.parse(line) as { receipt?: Receipt };
        if (receipt) drop(receipt.recording, receipt.recording.replace('.traj.', '.sidecar.'))(scene);
      }
    },
    rollout,
  ),
  given(
    'two receipts swapped',
    onLines(ledger, (lines) => lines.with(1, lines[2] ?? '').with(2, lines[1] ?? '')),
    ledger,
  ),
  given(
    'a receipt doubled',
    onLines(ledger, (lines) => lines.toSpliced(2, 0, lines[2] ?? '')),
    ledger,
  ),
  given(
    'a receipt of another run',
    ({ folder, other }) => {
      const [foreign = ''] = linesOf(readFileSync(join(other, ledger))).filter(isReceiptOf(rollout));
      onLines(ledger, (lines) => lines.with(receiptIndex(lines, rollout), foreign))({ folder } as Scene);
    },
    ledger,
  ),
  given(
    'a changed reward in a receipt',
    onText(ledger, (text) => text.replace(/"reward":\d/, '"reward":0.5')),
    ledger,
  ),
  given(
    'a line without a signature',
    onText(ledger, (text) => `${text}{"receipt":{}}\n`),
    ledger,
  ),
  given(
    'the line about run.json dropped',
    onLines(ledger, (lines) => lines.slice(1)),
    ledger,
  ),
  given('all receipts signed again with another key', resigned('stranger'), ledger),
];

const aroundForks: readonly Tampering[] = [
  given(
    'an event of a fork that it shares with its parent, chained again',
    onLines(fork, (lines) => rechained(lines.with(3, (lines[3] ?? '').replace(/"state":"./, '"state":"f')))),
    fork,
  ),
  given(
    'the receipt of a fork dropped',
    onLines(ledger, (lines) => lines.filter((line) => !line.includes('.fork-1'))),
    fork,
  ),
  given('the recording of a fork removed', drop(fork), fork),
];

const inFolder: readonly Tampering[] = [
  given('a file added', ({ folder }) => writeFileSync(join(folder, 'notes.txt'), 'x'), 'notes.txt'),
  given('a folder added', ({ folder }) => mkdirSync(join(folder, 'more')), 'more'),
  {
    ...given(
      'all of it replaced by another run of the same key, the id known',
      ({ folder, other }) => {
        rmSync(folder, { recursive: true });
        cpSync(other, folder, { recursive: true });
      },
      about,
    ),
    needsId: true,
  },
];

const unfound = (name: string, tamper: Tampering['tamper'], reason: string): Tampering => ({
  name,
  tamper,
  names: null,
  reason,
});

const undetectable: readonly Tampering[] = [
  unfound(
    'all of it replaced by another run of the same key, the id not known',
    ({ folder, other }) => {
      rmSync(folder, { recursive: true });
      cpSync(other, folder, { recursive: true });
    },
    'It is an honest run. Note the id in run.json elsewhere, and give it to `--run`.',
  ),
  unfound(
    'a text changed, and everything signed again with the same key',
    (scene) => {
      forged('agentReplied', (event) => ({ ...event, content: 'No.' }))(scene);
      resigned('key')(scene);
    },
    'The owner of the key can sign anything. Keep the key where the attacker is not.',
  ),
  unfound(
    'the last fork dropped with its receipt',
    (scene) => {
      onLines(ledger, (lines) => lines.filter((line) => !line.includes('.fork-1')))(scene);
      drop(fork, fork.replace('.traj.', '.sidecar.'))(scene);
    },
    'run.json promises the rollouts of the run, not the forks that are made later.',
  ),
  unfound(
    'the line dropped that says that the run is finished',
    (scene) => {
      onLines(ledger, (lines) =>
        lines.filter((line) => !line.includes('.fork-1') && !line.includes('"finished":true')),
      )(scene);
      drop(fork, fork.replace('.traj.', '.sidecar.'))(scene);
    },
    'A process that was killed just before it wrote the line leaves the same. No rollout is missing.',
  ),
  unfound(
    'the dates of files changed',
    ({ folder }) => utimesSync(join(folder, recording), 0, 0),
    'A copy changes them, too. The times of events are in the sidecars.',
  ),
  unfound(
    'a lock, a run.json.new or a .DS_Store added',
    ({ folder }) => {
      for (const name of ['.lock', 'run.json.new', '.DS_Store']) writeFileSync(join(folder, name), 'x');
    },
    'A process that is killed leaves the first two, macOS the last. None is read as a record.',
  ),
];

const inA = (where: string, list: readonly Tampering[]) =>
  list.map((each) => ({ ...each, name: `${where}: ${each.name}` }));

/** All kinds of tampering, grouped by the file that they change. */
export const tamperings: readonly Tampering[] = [
  ...inA('recording', inRecording),
  ...inA('sidecar', inSidecar),
  ...inA('run.json', inRunFile),
  ...inA('ledger', inLedger),
  ...inA('fork', aroundForks),
  ...inA('folder', inFolder),
  ...inA('any', undetectable),
];
