import type { Destinations } from './playback/destinations.ts';
import type { Playback, Then } from './playback/playback.ts';

type ControlArguments = { readonly targetId?: number; readonly frameId?: number };

/** Decides where a request moves the session. Throws a message for the user if it can't move there. */
type ControlRequest = (playback: Playback, args: ControlArguments, offered: Destinations) => Then | Promise<Then>;

const plain =
  (go: (playback: Playback) => void | Promise<void>): ControlRequest =>
  (playback) =>
  () =>
    go(playback);

/** Requests that move. */
export const controlRequests: ReadonlyMap<string, ControlRequest> = new Map<string, ControlRequest>([
  ['continue', plain((playback) => playback.continue())],
  ['next', plain((playback) => playback.toNextTurn())],
  [
    'stepIn',
    (playback, { targetId }, offered) =>
      targetId === undefined ? () => playback.toNextStep() : playback.goTo(offered.find(targetId)),
  ],
  ['stepOut', plain((playback) => playback.toEndOfTurn())],
  ['stepBack', plain((playback) => playback.back())],
  ['reverseContinue', plain((playback) => playback.reverse())],
  ['goto', (playback, { targetId = 0 }, offered) => playback.goTo(offered.find(targetId))],
  ['restartFrame', (playback, { frameId }) => playback.resample(frameId)],
]);
