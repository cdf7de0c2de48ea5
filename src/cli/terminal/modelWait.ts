import type { ModelNotice } from '../../engine/shell/externalSeats.ts';
import type { StatusLine } from './statusLine.ts';

/** Seconds of waiting after which it is first reported where no line can count them; then twice that, and so on. */
const firstWord = 10;

/** Anyone who prints one line after the other: a pipe, a log, the Debug Console. */
type Say = (text: string) => void;

/**
 * Reports that a model is being waited for or is asked again. A status line counts the seconds; without one, a line is
 * printed from time to time. `end` stops the reports.
 */
export function modelWait(
  say: Say,
  line?: StatusLine,
): { readonly onModel: (notice: ModelNotice) => void; end(): void } {
  const waiting = new Map<number, { readonly notice: ModelNotice; readonly since: number; nextWord: number }>();
  const said = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  const tick = () => {
    const now = performance.now();
    const [first] = waiting.values();
    line?.show('wait', first ? waitingText(waiting.size, seconds(now - first.since)) : '');
    if (line) return;
    for (const call of waiting.values()) {
      const waited = seconds(now - call.since);
      if (waited < call.nextWord) continue;
      call.nextWord *= 2;
      say(`still waiting for ${called(call.notice)}, ${waited} s`);
    }
  };
  /** Many rollouts may report the same in a log: it is printed for the first, the tenth, the hundredth time. */
  const sayAgain = (text: string) => {
    const count = (said.get(text) ?? 0) + 1;
    said.set(text, count);
    if (Number.isInteger(Math.log10(count))) say(count === 1 ? text : `${text} (${count} times)`);
  };
  const end = () => {
    clearInterval(timer);
    timer = undefined;
    waiting.clear();
    line?.show('wait', '');
  };
  const onModel = (notice: ModelNotice): void => {
    switch (notice.type) {
      case 'asked':
        waiting.set(notice.call, { notice, since: performance.now(), nextWord: firstWord });
        timer ??= setInterval(tick, 1000).unref();
        return;
      case 'askedAgain': {
        const { reason, attempt, of, waitMs } = notice.retry;
        const count = of > 1 ? ` (${attempt} of ${of})` : '';
        const when = waitMs === undefined ? count : ` in ${Math.ceil(waitMs / 1000)} s`;
        const text = `${called(notice)}: ${reason}; retrying${when}`;
        if (line) line.print(text);
        else sayAgain(text);
        return;
      }
      case 'answered':
        waiting.delete(notice.call);
        if (waiting.size === 0) end();
        return;
      default:
        throw notice satisfies never;
    }
  };
  return { onModel, end };
}

function waitingText(calls: number, waited: number): string {
  return `waiting for the model${calls > 1 ? ` (${calls} calls)` : ''}, ${waited} s`;
}

function called({ model, role }: ModelNotice): string {
  return `${model} (${role})`;
}

const seconds = (ms: number) => Math.round(ms / 1000);
