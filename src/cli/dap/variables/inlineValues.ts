import { resolve } from 'node:path';
import { decisiveVerdict } from '../../../engine/core/domain/decisiveVerdict.ts';
import { baseTask } from '../../../engine/core/domain/taskVariant.ts';
import { rewardText } from '../../../engine/core/events/displayText.ts';
import { callsIn } from '../../../engine/core/events/message.ts';
import { callsOf, type MadeCall } from '../../../engine/core/rules/calls.ts';
import { lineExcerpt } from '../../../engine/core/text/excerpt.ts';
import { contentHash } from '../../../engine/core/values/hash.ts';
import { type Json, type JsonObject, textOrJson } from '../../../engine/core/values/json.ts';
import type { LoadedDomain } from '../../../engine/shell/domain/loadDomain.ts';
import { inWordsOf, rewardInWords } from '../../../engine/shell/domain/reasonInWords.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';

/** A value shown next to a line of a file while the rollout is at a step; `line` counts from 1. */
export type InlineValue = { readonly line: number; readonly text: string };

const most = 140;

/**
 * Returns what a step knows about the parts of a file: the verdict that decides a rule so far, the last call of a tool, how far a
 * task is. In the order of the file's lines.
 */
export function inlineValuesAt(domain: LoadedDomain, step: Step, file: string): readonly InlineValue[] {
  const path = resolve(file);
  const found = [...ofRules(domain, step), ...ofTools(domain, step), ...ofTask(domain, step)];
  return found
    .filter(({ at }) => resolve(at.file) === path)
    .map(({ at: { line }, text }) => ({ line, text: clipped(text) }))
    .sort((one, other) => one.line - other.line);
}

type Note = { readonly at: { readonly file: string; readonly line: number }; readonly text: string };

function ofRules(loaded: LoadedDomain, { state }: Step): readonly Note[] {
  const { locations, domain } = loaded;
  const inWords = inWordsOf(loaded);
  const byRule = Map.groupBy(state.ruleVerdicts, ({ rule }) => rule);
  return [...byRule].flatMap(([rule, verdicts]) => {
    const decisive = decisiveVerdict(verdicts);
    const alike = verdicts.filter(({ verdict }) => verdict === decisive?.verdict);
    const newest = alike.at(-1);
    if (!newest) return [];
    const times = alike.length > 1 ? ` ${alike.length} times` : '';
    // A rule that held needs no reason, and a text that wraps would be drawn over the lens below.
    const reason = newest.verdict === 'held' ? '' : `: ${inWords(rule, newest.reason)}`;
    const text = `${newest.verdict}${times}${reason}`;
    const checks = locations.rules.filter((_, index) => domain.rules[index]?.rule === rule);
    const places = [...checks, locations.policyRules.get(rule)];
    return places.flatMap((at) => (at ? [{ at, text }] : []));
  });
}

function ofTools({ locations }: LoadedDomain, { event, state }: Step): readonly Note[] {
  const last = new Map<string, string>();
  for (const call of callsOf(state.messages)) last.set(call.tool, madeText(call));
  if (event.type === 'toolCalled') last.set(event.call.name, `is called with ${JSON.stringify(event.call.arguments)}`);
  return [...last].flatMap(([tool, text]) => {
    const at = locations.tools.get(tool);
    return at ? [{ at, text }] : [];
  });
}

const madeText = ({ args, result, failed }: MadeCall) =>
  `${JSON.stringify(args)} ${failed ? 'failed' : 'gave'} ${textOrJson(result)}`;

/** The task that is played: its turn or its reward, and which of its gold actions were made. */
function ofTask(loaded: LoadedDomain, { state }: Step): readonly Note[] {
  const { locations, domain } = loaded;
  const id = baseTask(state.started.task.id);
  const at = locations.tasks.get(id);
  if (!at) return [];
  const { reward, turn } = state;
  const standing = reward ? `${rewardText(reward.value)}: ${rewardInWords(loaded, reward.reason)}` : `turn ${turn}`;
  const made = new Set(callsOf(state.messages).flatMap((call) => (call.failed ? [] : keyOf(call.tool, call.args))));
  const actions = domain.tasks.find((task) => task.id === id)?.actions ?? [];
  const notes = actions.flatMap(({ tool, arguments: args }, index): readonly Note[] => {
    const place = at.actions[index];
    return place ? [{ at: place, text: made.has(keyOf(tool, args as JsonObject)) ? 'made' : 'not made so far' }] : [];
  });
  return [{ at, text: standing }, ...notes];
}

const keyOf = (tool: string, args: JsonObject) => `${tool} ${contentHash(args as Json)}`;

const clipped = (text: string) => lineExcerpt(text, most, '...');

/**
 * Returns what a word of a domain's file means at a step: a tool, a rule, an argument of the call that is under way, a
 * row of the database by its id. Undefined for every other word.
 */
export function meaningOf(word: string, { event, state }: Step): Json | undefined {
  const calls = callsOf(state.messages).filter(({ tool }) => tool === word);
  const asked = state.messages.flatMap(callsIn).filter(({ name }) => name === word).length;
  const last = calls.at(-1);
  if (last) return { calls: asked, arguments: last.args, [last.failed ? 'error' : 'result']: last.result };
  if (event.type === 'toolCalled') {
    if (event.call.name === word) return { calls: asked, arguments: event.call.arguments };
    const values = event.call.arguments;
    if (typeof values === 'object' && Object.hasOwn(values, word)) return (values as JsonObject)[word];
  }
  const verdict = decisiveVerdict(state.ruleVerdicts.filter(({ rule }) => rule === word));
  if (verdict) return { verdict: verdict.verdict, reason: verdict.reason, evidence: [...verdict.evidence] };
  return undefined;
}
