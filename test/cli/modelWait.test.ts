import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { auditProgress } from '../../src/cli/terminal/auditProgress.ts';
import { progress } from '../../src/cli/terminal/io.ts';
import { modelWait } from '../../src/cli/terminal/modelWait.ts';
import { statusLine } from '../../src/cli/terminal/statusLine.ts';
import type { ModelNotice } from '../../src/engine/shell/externalSeats.ts';
import { shownBy } from '../support/screen.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const about = (call: number, role: ModelNotice['role'] = 'agent') => ({ call, role, model: 'm' });
const again = { type: 'askedAgain', retry: { attempt: 1, of: 3, reason: 'it answered 503' } } as const;

/** Returns a terminal to write to, and a function that returns its screen. */
function terminal() {
  let written = '';
  const io = {
    err: (text: string) => {
      written += text;
    },
    terminal: true,
  };
  return { io, shown: () => shownBy(written), written: () => written };
}

test('in a terminal one line counts the seconds, beside the progress bar, and is gone with the answer', () => {
  const { io, shown } = terminal();
  const line = statusLine(io);
  const show = progress(io as never, line);
  const wait = modelWait(() => expect.fail('a terminal has its line'), line);
  show(1, 4, 'mean reward 1.00');
  wait.onModel({ ...about(1), type: 'asked' });
  expect(shown()).toEqual(['[#####...............] 1/4 mean reward 1.00']);
  vi.advanceTimersByTime(3000);
  expect(shown()).toEqual(['[#####...............] 1/4 mean reward 1.00  waiting for the model, 3 s']);
  wait.onModel({ ...about(2), type: 'asked' });
  vi.advanceTimersByTime(2000);
  expect(shown()).toEqual(['[#####...............] 1/4 mean reward 1.00  waiting for the model (2 calls), 5 s']);
  wait.onModel({ ...about(1), type: 'answered' });
  show(2, 4, 'mean reward 0.50');
  vi.advanceTimersByTime(1000);
  expect(shown()).toEqual(['[##########..........] 2/4 mean reward 0.50  waiting for the model, 3 s']);
  wait.onModel({ ...about(2), ...again });
  expect(shown()).toEqual([
    'm (agent): it answered 503; retrying (1 of 3)',
    '[##########..........] 2/4 mean reward 0.50  waiting for the model, 3 s',
  ]);
  wait.onModel({ ...about(2), type: 'answered' });
  expect(shown().at(-1)).toBe('[##########..........] 2/4 mean reward 0.50');
  show(4, 4, 'mean reward 0.75');
  expect(shown().slice(1)).toEqual(['[####################] 4/4 mean reward 0.75', '']);
  expect(vi.getTimerCount()).toBe(0);
});

test('an audit names the rollouts that it waits for', () => {
  const { io, shown } = terminal();
  const { onProgress, onRollout } = auditProgress(io as never);
  onProgress(1, 4, 'gold seat, one');
  const ended = onRollout('gold seat, two');
  vi.advanceTimersByTime(2000);
  expect(shown()).toEqual(['[#####...............] 1/4 gold seat, one']);
  onRollout('find twice');
  vi.advanceTimersByTime(2000);
  const waits =
    '[#####...............] 1/4 gold seat, one  waiting for 2 rollouts, of which one can block the others: "gold seat, two" and 1 more, 4 s';
  expect(shown()).toEqual([waits]);
  ended();
  vi.advanceTimersByTime(1000);
  expect(shown()).toEqual(['[#####...............] 1/4 gold seat, one  waiting for the rollout "find twice", 3 s']);
});

test('without a terminal, an audit prints all rollouts that it waits for', () => {
  const { io, written } = terminal();
  const { onRollout } = auditProgress({ ...io, terminal: false } as never);
  for (const what of ['gold seat, one', 'gold seat, two']) onRollout(what);
  vi.advanceTimersByTime(7000);
  const waits = (seconds: number) =>
    `still waiting for 2 rollouts, of which one can block the others: "gold seat, one", "gold seat, two", ${seconds} s\n`;
  expect(written()).toBe(waits(3) + waits(6));
});

test('without one, the same retry of many rollouts is printed for the first, the tenth and the hundredth', () => {
  const said: string[] = [];
  const wait = modelWait((text) => said.push(text));
  for (let call = 0; call < 120; call += 1) wait.onModel({ ...about(call), ...again });
  wait.end();
  const text = 'm (agent): it answered 503; retrying (1 of 3)';
  expect(said).toEqual([text, `${text} (10 times)`, `${text} (100 times)`]);
});

test('without one the wait is reported after 10 s, 20 s, 40 s, and retries at once', () => {
  const said: string[] = [];
  const wait = modelWait((text) => said.push(text));
  wait.onModel({ ...about(1, 'user'), type: 'asked' });
  wait.onModel({ ...about(1, 'user'), ...again });
  expect(said).toEqual(['m (user): it answered 503; retrying (1 of 3)']);
  vi.advanceTimersByTime(9000);
  expect(said).toHaveLength(1);
  vi.advanceTimersByTime(60_000);
  expect(said.slice(1)).toEqual([
    'still waiting for m (user), 10 s',
    'still waiting for m (user), 20 s',
    'still waiting for m (user), 40 s',
  ]);
  wait.onModel({ ...about(1, 'user'), type: 'answered' });
  expect(vi.getTimerCount()).toBe(0);
});

test('a line that was never drawn leaves nothing behind', () => {
  const { io, written } = terminal();
  const line = statusLine(io);
  const wait = modelWait(() => undefined, line);
  wait.onModel({ ...about(1), type: 'asked' });
  wait.onModel({ ...about(1), type: 'answered' });
  wait.end();
  line.end();
  expect(stripVTControlCharacters(written())).toBe('');
});
