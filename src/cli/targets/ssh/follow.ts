import type { Io } from '../../terminal/io.ts';
import { followElsewhere, passStopOn } from '../follower.ts';
import { had, mirror } from '../mirror.ts';
import type { SshAddress } from './address.ts';
import { askFarSide, callFarSide } from './remoteAgent.ts';

/** A run there, and how to ask for it. */
export type FarRun = { readonly address: SshAddress; readonly python: () => Promise<string>; readonly folder: string };

/** The far side says every five seconds that it is there. */
const silenceMs = 30_000;

/**
 * Brings what a run writes there into its folder here until it is over. A connection that is cut is opened again, and
 * continues behind the last byte that came.
 * @returns whether the run is over; else the wait was ended
 */
export function followFarRun(run: string, far: FarRun, io: Io): Promise<boolean> {
  return followElsewhere(run, far.address.host, io, (onMessage) => followOnce(run, far, io.signal, onMessage));
}

async function followOnce(run: string, far: FarRun, signal: AbortSignal, onMessage: () => void): Promise<void> {
  const request = { do: 'follow', folder: far.folder, have: await had(run) };
  const call = await callFarSide(far.address, await far.python(), request, { signal });
  const stops = passStopOn(run, async () =>
    askFarSide(far.address, await far.python(), { do: 'stop', folder: far.folder }),
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
