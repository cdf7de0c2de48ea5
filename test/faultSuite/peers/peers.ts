import { pythonWith, type Source } from '../../../scripts/benchmarks/copy.ts';
import { pythonObstacle, setUpTrainer } from '../../../scripts/pythonTests.ts';
import { Failure } from '../../../scripts/terminal.ts';
import { chatFaults } from '../chatFaults.ts';
import { streamFaults } from '../streamFaults.ts';

/** A framework's report on a rollout. */
export type PeerResult = {
  readonly case: string;
  readonly reward: number | null;
  /** Why it is marked as failed; null where it is not. */
  readonly error: string | null;
  /** The stop reason, in the words of the framework. */
  readonly stop?: string | null;
};

/** A rollout of a peer; the result is null if the peer left none. */
export type Played = {
  readonly at: number;
  readonly isAffected: boolean;
  readonly due: number;
  readonly result: PeerResult | null;
};

export type Peer = {
  readonly title: string;
  readonly script: string;
  /** Installs its package if it is missing. Returns the program that runs the script. */
  readonly setUp: () => Promise<string>;
  /** Whether it asks an endpoint for chat completions, so that their faults can be injected. */
  readonly takesChatFaults: boolean;
  /** Whether it plays the desk of the suite itself, in which an MCP server keeps the state of a session. */
  readonly isOwn?: boolean;
  /** Faults that are left out. */
  readonly leftOut?: readonly string[];
};

/** Returns a function that announces the download and installs packages into a separate Python. */
function installed(requirements: readonly string[], source: Source): () => Promise<string> {
  const python = pythonWith(requirements, source);
  return async () => {
    if (python.isReady()) return python.path();
    requirePython();
    for (const { what, bytes, into } of python.downloads())
      console.log(`Downloading ${what}, about ${Math.round(bytes / 1e6)} MB, into ${into}`);
    await python.setUp();
    return python.path();
  };
}

async function setUpVerl(): Promise<string> {
  const named = process.env['REHEARSAL_PEER_VERL'];
  if (named !== undefined) return named;
  requirePython();
  return setUpTrainer('verl');
}

function requirePython(): void {
  const obstacle = pythonObstacle();
  if (obstacle) throw new Failure(`${obstacle.reason}: ${obstacle.install}`);
}

export const peers: Readonly<Record<string, Peer>> = {
  rehearsal: {
    title: 'Rehearsal',
    script: 'rehearsalDesk.ts',
    setUp: () => Promise.resolve(process.execPath),
    takesChatFaults: true,
    isOwn: true,
  },
  verifiers: {
    title: 'verifiers 0.4.0',
    script: 'verifiers_desk.py',
    // Its programs run in environments that uv creates.
    setUp: installed(['verifiers==0.4.0', 'uv==0.13.9'], {
      name: 'verifiers-0.4.0',
      variable: 'REHEARSAL_PEER_VERIFIERS',
      bytes: 240e6,
    }),
    takesChatFaults: true,
  },
  openenv: {
    title: 'OpenEnv 0.3.0',
    script: 'openenv_desk.py',
    setUp: installed(['openenv-core==0.3.0'], {
      name: 'openenv-core-0.3.0',
      variable: 'REHEARSAL_PEER_OPENENV',
      bytes: 160e6,
    }),
    takesChatFaults: true,
    // Its client waits 30 minutes and has no setting for that, and it asks for whole answers.
    leftOut: [...chatFaults.filter(({ isSlow }) => isSlow), ...streamFaults].map(({ name }) => name),
  },
  verl: {
    title: 'verl 0.9.1',
    script: 'verl_desk.py',
    // The trainer's environment has it with PyTorch for the CPU.
    setUp: () => setUpVerl(),
    takesChatFaults: false,
    // It has no client of MCP that they could be injected into.
    leftOut: [
      'null in place of each absent field',
      'the answer comes in a stream, after messages from the server',
      'the answer comes twice',
      'a result without content',
      'an error in a stream, in place of the answer',
      'the stream ends before the answer to the write',
      'the stream is cut off in the middle of the answer to the write',
      'the answer belongs to an earlier request',
      'the answer to the reader belongs to an earlier request',
      'no answer, and each later answer belongs to an earlier request',
    ],
  },
};
