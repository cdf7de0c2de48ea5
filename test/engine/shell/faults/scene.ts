import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { lineText, transcriptOf } from '../../../../src/cli/terminal/transcript.ts';
import type { SeatSpec } from '../../../../src/engine/core/domain/seatSpec.ts';
import { loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import { finishedRollouts, signingKey } from '../../../../src/engine/shell/records/ledger.ts';
import { readRecording } from '../../../../src/engine/shell/records/recording.ts';
import { verifyRun } from '../../../../src/engine/shell/records/verifyRun.ts';
import { replayRecording } from '../../../../src/engine/shell/replay.ts';
import { runBatch, throwCrash } from '../../../../src/engine/shell/runs/batch.ts';
import { openSupervisor, type Supervisor } from '../../../../src/engine/shell/supervisor.ts';
import { approveDomain, hashOf } from '../../../support/approval.ts';
import { commandLine } from '../../../support/commandLine.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { rehearsalWith } from '../../../support/terminal.ts';

/** A fault of the table in docs/faults.md: how it is injected, the message that a person reads, and what is kept. */
export type FaultRow = {
  readonly fault: string;
  /** The description of the injection in the table. */
  readonly injected: string;
  /** Matches the line that a person reads; null if nothing is printed. */
  readonly sees: RegExp | null;
  readonly kept: keyof typeof keeping;
  readonly inject: () => Promise<Affected>;
  /** Returns why the fault cannot be injected on this machine, or null. */
  readonly obstacle?: () => string | null;
};

/** The result of an injection: all printed lines, and the folder of the run. */
export type Affected = {
  readonly lines: readonly string[];
  readonly run: string;
  readonly folder: string;
  /** Runs the same command without the fault. */
  readonly again?: () => Promise<unknown>;
};

export const root = realpathSync(temporaryFolder('rehearsal-faults'));
let folders = 0;
export const fresh = () => join(root, String(++folders));
export const source = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));
export const home = join(root, 'home');
const key = () => signingKey(join(home, 'signing-key.pem'));

type Call = string | { readonly tool: string; readonly arguments: object };
const turns = (calls: readonly Call[]) =>
  JSON.stringify([
    ...calls.map((call) => [typeof call === 'string' ? { tool: call, arguments: {} } : call]),
    'All is done.',
  ]);

export const toolsHead = `import { defineTools } from 'rehearsal';
import * as z from 'zod';
const { tool } = defineTools<{ agent: { chairs: Record<string, { colour: string }> } }>();
const input = z.object({});
export const look = tool({ description: 'Look.', effect: 'read', input, run: (_, { db }) => db.chairs });
`;

/** `wait` names its process `waits in FOLDER`, and returns once the folder of the domain has a file `go`. */
export const gated = `${toolsHead}export const wait = tool({ description: 'Wait.', effect: 'read', timeoutMs: 600_000, input, run: async () => {
  const { existsSync } = process.getBuiltinModule('node:fs'); process.title = \`waits in \${process.cwd()}\`;
  while (!existsSync('go')) await new Promise((later) => setTimeout(later, 20));
  return 'ok';
} });
`;

/** Lets `wait` return in this folder of a domain. */
export const go = (folder: string) => writeFileSync(join(folder, 'go'), '');

const task = (id: string, calls: readonly Call[], reward: string) =>
  `- id: ${id}\n  persona: plain\n  user: { goal: Look., opening: This is ${id}. }\n  actions: []\n${reward}  script: ${turns(calls)}\n`;

/** A task whose reward does not depend on the database, as simulated tools require. */
export const withoutDatabase =
  '  evaluate: [assertions]\n  train: [assertions]\n  assertions: [{ path: chairs.A1.colour, exists: true }]\n';

/**
 * Writes a domain with two tasks: `affected` calls `look` and then `breaks`, `spared` calls only `look`.
 * @param breaks the calls that the fault affects
 */
export function domain(
  breaks: readonly Call[],
  changes: Readonly<Record<string, string | null>> = {},
  reward = '',
): string {
  const folder = fresh();
  const first = changes['tools.ts'] === null ? [] : ['look'];
  const files: Readonly<Record<string, string | null>> = {
    'domain.yaml': 'name: chairs\nturnCap: 8\ntoolErrorCap: 3\n',
    'database.json': '{ "chairs": { "A1": { "colour": "blue" } } }\n',
    'policy.md': '- Look first.\n',
    'personas/plain.persona.yaml': 'id: plain\ndescription: Plain.\n',
    'tools.ts': toolsHead,
    'tasks/all.task.yaml': task('affected', [...first, ...breaks], reward) + task('spared', first, reward),
    ...changes,
  };
  for (const [name, text] of Object.entries(files)) {
    if (text === null) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return approveDomain(folder);
}

type Playing = {
  readonly agent?: SeatSpec;
  readonly user?: SeatSpec;
  /** Both run at once by default. A fault that would affect both rollouts needs an order. */
  readonly order?: 'spared first' | 'affected first';
  /** Keeps the worker for the next run of this folder. */
  readonly keep?: boolean;
  /** Called with each event of the affected rollout. */
  readonly onEvent?: (type: string, run: string) => void;
};

const kept = new Map<string, Supervisor>();

export async function closeKept(): Promise<void> {
  await Promise.all([...kept.values()].map((supervisor) => supervisor.close()));
}

/** Plays both tasks as `rehearsal run` plays one, and keeps the output for the affected one. */
export async function play(
  folder: string,
  { agent, user, order, onEvent, keep = false }: Playing = {},
): Promise<Affected> {
  const run = fresh();
  const lines: string[] = [];
  const again = async () => {
    const open = () =>
      openSupervisor(loadDomain(folder), {
        log: (text) => lines.push(text),
      });
    const supervisor = await (kept.get(folder) ?? open());
    if (keep) kept.set(folder, supervisor);
    try {
      const results = await runBatch(supervisor, {
        folder: run,
        tasks: order === 'spared first' ? supervisor.domain.tasks.toReversed() : supervisor.domain.tasks,
        trials: 1,
        seed: '1',
        basis: 'evaluate',
        agent: agent ?? { type: 'scripted' },
        user: user ?? { type: 'agenda' },
        concurrency: order ? 1 : 2,
        key: key(),
        readKey: () => 'sk-secret',
        askPerson: () => Promise.reject(new Error('no person is asked')),
        onEvents: ({ id }, _trial, events) => {
          if (id !== 'affected') return;
          for (const { event } of events)
            lines.push(...transcriptOf(event).map((line) => lineText(line, false).trim()));
          for (const { type } of events) onEvent?.(type, run);
        },
      });
      throwCrash(results);
    } finally {
      if (!keep) await supervisor.close();
    }
  };
  await again().catch((error: Error) => lines.push(error.message));
  return { lines, run, folder, again };
}

/** Starts the command line as a separate process. */
export function child(
  argv: readonly string[],
  env: NodeJS.ProcessEnv = {},
  node: readonly string[] = [],
): ChildProcess {
  return spawn(process.execPath, ['--no-warnings', ...node, commandLine, ...argv], {
    env: { ...process.env, REHEARSAL_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Waits for a process to end. Returns the lines that it printed. */
export async function printed(process: ChildProcess): Promise<readonly string[]> {
  let text = '';
  for (const stream of [process.stdout, process.stderr])
    stream?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  if (process.exitCode === null && process.signalCode === null)
    await new Promise((resolve) => process.once('close', resolve));
  return text.split('\n');
}

export const evaluation = (folder: string, run: string) => ['eval', folder, '--agent', 'scripted', '--out', run];

/** Runs `rehearsal eval` with a domain whose start fails, and returns its output. */
export async function refused(folder: string): Promise<Affected> {
  const run = fresh();
  const { out, err } = await rehearsalWith({ REHEARSAL_HOME: home }, ...evaluation(folder, run));
  return { lines: `${out}\n${err}`.split('\n'), run, folder };
}

/** Runs an evaluation in a separate process, started by a command that limits it. */
export function limited(before: readonly string[], folder: string, run: string): readonly string[] {
  // A sandbox cannot start under such a limit, because it may not raise the limit.
  const approved = ['--approve', hashOf(folder, false)];
  const [command = '', ...rest] = [...before, process.execPath, commandLine, ...evaluation(folder, run), ...approved];
  const { stdout, stderr } = spawnSync(command, rest, {
    env: { ...process.env, REHEARSAL_HOME: home },
    encoding: 'utf8',
  });
  return `${stdout}\n${stderr}`.split('\n');
}

const receiptOf = (run: string, id: string) =>
  finishedRollouts(join(run, 'ledger.jsonl')).find(({ rollout }) => rollout === `${id}.0`);

/** Expects that a recording has no problems and that its replay gives the recorded states. */
function expectWhole({ run, folder }: Affected, id: string): void {
  const path = join(run, `${id}.0.traj.jsonl`);
  expect(readRecording(path).problems).toEqual([]);
  expect(replayRecording(loadDomain(folder), path).problems).toEqual([]);
}

function expectSigned(affected: Affected): void {
  expect(verifyRun(affected.run, key().publicKey)).toMatchObject({ checked: 2, problems: [], missing: [] });
  expect(receiptOf(affected.run, 'spared')).toMatchObject({ reward: 1, endReason: 'userStopped' });
  for (const id of ['affected', 'spared']) expectWhole(affected, id);
}

/** Checks of the files that a run keeps, by their description in the table. */
export const keeping = {
  'the whole record, signed, without a reward; the other rollout is untouched': async (affected: Affected) => {
    expectSigned(affected);
    expect(receiptOf(affected.run, 'affected')).toMatchObject({ reward: null });
    const { lines } = readRecording(join(affected.run, 'affected.0.traj.jsonl'));
    expect(lines.find(({ event }) => event.type === 'rolloutEnded')?.event).toMatchObject({ failure: {} });
  },
  'the whole record, signed, with its reward; the other rollout is untouched': async (affected: Affected) => {
    expectSigned(affected);
    expect(receiptOf(affected.run, 'affected')?.reward).toEqual(expect.any(Number));
  },
  'every event before it; the same command resumes and finishes both rollouts': async (affected: Affected) => {
    expect(receiptOf(affected.run, 'affected')).toBeUndefined();
    expectWhole(affected, 'affected');
    const before = readRecording(join(affected.run, 'affected.0.traj.jsonl')).lines;
    expect(before.length).toBeGreaterThan(3);
    await affected.again?.();
    expectSigned(affected);
    const after = readRecording(join(affected.run, 'affected.0.traj.jsonl')).lines;
    expect(after.slice(0, before.length)).toEqual(before);
  },
  'nothing had begun, and nothing is left': async ({ run }: Affected) => {
    expect(existsSync(run) ? readdirSync(run).filter((name) => name.includes('.traj')) : []).toEqual([]);
  },
  'what others deleted is gone; the same command plays both rollouts again': async (affected: Affected) => {
    await affected.again?.();
    expectSigned(affected);
  },
} as const;
export const unscored = 'the whole record, signed, without a reward; the other rollout is untouched';
export const scored = 'the whole record, signed, with its reward; the other rollout is untouched';
export const resumed = 'every event before it; the same command resumes and finishes both rollouts';
export const untouched = 'nothing had begun, and nothing is left';
export const replayed = 'what others deleted is gone; the same command plays both rollouts again';
