import { existsSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { runFiles } from '../../engine/shell/records/runFiles.ts';
import { checkpointsOf, lastWordOf, parseEvent, valueOfLine } from '../../engine/shell/records/trainingRun.ts';
import { kindOf, readJson } from '../targets/runFolder.ts';
import { targetSpecOf } from '../targets/targets.ts';
import type { Io } from '../terminal/io.ts';
import { shellWord } from '../terminal/shellWord.ts';
import { valuesOf } from './trainingProgress.ts';

/**
 * Returns what a run that ended well leaves for its reader: an evaluation's numbers, or where the checkpoint lies, what
 * was measured, and the next commands.
 */
export function outcome(run: string, json: boolean, { cwd, environment }: Pick<Io, 'cwd' | 'environment'>): string {
  const result = join(run, runFiles.result);
  const here = (path: string) => shellWord(shortest(path, cwd));
  if (existsSync(result) && json) return readBoundedText(result);
  if (existsSync(result))
    return `${readBoundedText(join(run, runFiles.resultText))}compare it with another evaluation: npx rehearsal compare OTHER_RUN ${here(run)}\n`;
  if (json) return `${JSON.stringify({ run })}\n`;
  const { type, message } = lastWordOf(run);
  if (type === 'paused')
    return `paused by an alarm: ${message}. Resume with: npx rehearsal train resume ${shellWord(run)}\n`;
  if (type === 'stopped' && kindOf(run) === 'evaluate')
    return `stopped. Play the other rollouts with: npx rehearsal train resume ${shellWord(run)}\n`;
  const word = type === 'stopped' ? 'stopped' : 'trained';
  const measured = [...measuredLines(run), ...alarmLines(run, here(run))].map((line) => `${line}\n`).join('');
  const newest = checkpointsOf(run).at(-1);
  if (newest !== undefined) {
    const checkpoint = join(run, runFiles.checkpoints, newest);
    return `${word}: ${checkpoint}\n${measured}${nextCommands(run, here(checkpoint), here)}`;
  }
  if (targetSpecOf(run, environment).target === 'local') return `${word}\n${measured}`;
  return `${word}; fetch a checkpoint with: npx rehearsal train fetch ${shellWord(run)}\n${measured}`;
}

/** Returns the shorter one of a path and the path relative to a folder that contains it. */
function shortest(path: string, cwd: string): string {
  const within = relative(cwd, path);
  return within === '' || within.startsWith('..') || isAbsolute(within) ? path : within;
}

const linesOf = (run: string, name: string): readonly string[] =>
  existsSync(join(run, name)) ? readBoundedText(join(run, name)).split('\n') : [];

function measuredLines(run: string): readonly string[] {
  const steps = linesOf(run, runFiles.metrics)
    .map((line) => valueOfLine(line) as { readonly step?: unknown } | undefined)
    .filter((line) => typeof line?.step === 'number' && line.step > 0);
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined || valuesOf(last) === '') return [];
  const before = first === last ? '' : `; at the first: ${valuesOf(first)}`;
  return [`at optimizer step ${last.step}: ${valuesOf(last)}${before}`];
}

function alarmLines(run: string, named: string): readonly string[] {
  const alarms = linesOf(run, runFiles.events)
    .map((line) => parseEvent(line))
    .filter((event) => typeof event !== 'string' && event.type === 'alarm');
  const names = alarms.map((event) => (typeof event === 'string' ? '' : `${event['alarm']} at step ${event.step}`));
  return names.length === 0
    ? []
    : [`alarms: ${names.join(', ')}. To see their messages: npx rehearsal train follow ${named}`];
}

function nextCommands(run: string, checkpoint: string, here: (path: string) => string): string {
  const { domain } = readJson(join(run, runFiles.config));
  const [first] = [domain].flat() as readonly unknown[];
  const folder = typeof first === 'string' ? first : (first as { readonly folder?: unknown } | undefined)?.folder;
  const named = typeof folder === 'string' ? here(folder) : 'DOMAIN';
  const grpo = `train with rewards:  npx rehearsal train grpo ${named} --model ${checkpoint}\n`;
  return `measure it:          npx rehearsal train evaluate ${named} --model ${checkpoint}
${kindOf(run) === 'sft' ? grpo : ''}compare runs:        npx rehearsal compare OTHER_RUN ${here(run)}
`;
}
