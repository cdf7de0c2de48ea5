import type { ModelNotice } from '../../engine/shell/externalSeats.ts';
import type { StatusLine } from './statusLine.ts';
import { waitReport } from './waitReport.ts';

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
  const { begin, finish, end } = waitReport({ say, line, summary: (_, calls, waited) => waitingText(calls, waited) });
  const said = new Map<string, number>();
  /** Many rollouts may report the same in a log: it is printed for the first, the tenth, the hundredth time. */
  const sayAgain = (text: string) => {
    const count = (said.get(text) ?? 0) + 1;
    said.set(text, count);
    if (Number.isInteger(Math.log10(count))) say(count === 1 ? text : `${text} (${count} times)`);
  };
  const onModel = (notice: ModelNotice): void => {
    switch (notice.type) {
      case 'asked':
        begin(notice.call, called(notice));
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
        finish(notice.call);
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
