import { times } from '../../engine/core/text/counted.ts';
import type { LastResults, RuleResult, TaskResult } from '../runs/lastResults.ts';
import { runPlacesOf } from '../runs/runPlaces.ts';

const minuteMs = 60_000;

let results: Promise<LastResults> | undefined;

/** The one reader of results, loaded when a file first shows some. */
export function lastResults(): Promise<LastResults> {
  results ??= import('../runs/lastResults.ts').then((module) => new module.LastResults());
  return results;
}

/** Returns the last result of a task or a rule in words; empty before its first result. */
export async function resultWords(folder: string, kind: 'task' | 'rule', name: string): Promise<string> {
  const reader = await lastResults();
  const roots = runPlacesOf(folder);
  const told =
    kind === 'task'
      ? withText((await reader.ofTasks(folder, roots)).get(name), taskText)
      : withText((await reader.ofRules(folder, roots)).get(name), ruleText);
  return told.replace(/^\$\([a-z]+\) /, '');
}

const withText = <T>(result: T | undefined, text: (result: T) => string) => (result === undefined ? '' : text(result));

/** `$(pass) 7/8 passed · 2 min ago` */
export function taskText({ passed, scored, time }: TaskResult): string {
  const icon = scored === 0 ? '$(warning)' : passed === scored ? '$(pass)' : '$(error)';
  return `${icon} ${scored === 0 ? 'no reward' : `${passed}/${scored} passed`} · ${ago(time)}`;
}

/** `$(error) Last run: violated once, held 3 times` */
export function ruleText({ held, violated, unknown, sample }: RuleResult): string {
  const counts = [
    ...(violated > 0 ? [`violated ${times(violated)}`] : []),
    ...(held > 0 || violated + unknown === 0 ? [`held ${times(held)}`] : []),
    ...(unknown > 0 ? [`no verdict ${times(unknown)}`] : []),
  ];
  const which = sample === null ? 'Last run' : `${sample} rollouts of the last run`;
  const icon = violated > 0 ? '$(error)' : held > 0 ? '$(pass)' : '$(question)';
  return `${icon} ${which}: ${counts.join(', ')}`;
}

function ago(time: number): string {
  const minutes = Math.floor((Date.now() - time) / minuteMs);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  const days = Math.floor(hours / 24);
  return `${days} ${days === 1 ? 'day' : 'days'} ago`;
}
