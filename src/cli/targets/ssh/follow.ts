import type { Io } from '../../terminal/io.ts';
import { followElsewhere, passStopOn } from '../follower.ts';
import { had, mirror } from '../mirror.ts';
import type { SshAddress } from './address.ts';
import { askRemoteAgent, callRemoteAgent } from './remoteAgent.ts';

/** A run there, and how to ask for it. */
export type RemoteRun = {
  readonly address: SshAddress;
  readonly python: () => Promise<string>;
  readonly folder: string;
};

/** The remote agent says every five seconds that it is there. */
const silenceMs = 30_000;

/**
 * Brings what a run writes there into its folder here until it is over. A connection that is cut is opened again, and
 * continues behind the last byte that came.
 * @returns whether the run is over; else the wait was ended
 */
export function followRemoteRun(run: string, remote: RemoteRun, io: Io): Promise<boolean> {
  return followElsewhere(run, remote.address.host, io, (onMessage) => followOnce(run, remote, io.signal, onMessage));
}

async function followOnce(run: string, remote: RemoteRun, signal: AbortSignal, onMessage: () => void): Promise<void> {
  const request = { do: 'follow', folder: remote.folder, have: await had(run) };
  const call = await callRemoteAgent(remote.address, await remote.python(), request, { signal });
  const stops = passStopOn(run, async () =>
    askRemoteAgent(remote.address, await remote.python(), { do: 'stop', folder: remote.folder }),
  );
  let silence = setTimeout(call.cut, silenceMs);
  try {
    await mirror(run, call, () => {
      clearTimeout(silence);
      silence = setTimeout(call.cut, silenceMs);
      onMessage();
    });
  } finally {
    clearTimeout(silence);
    clearInterval(stops);
    call.cut();
  }
}
