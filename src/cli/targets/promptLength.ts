import { basename } from 'node:path';
import * as z from 'zod';
import { offeredAs } from '../../engine/core/domain/tool.ts';
import type { RolloutStarted } from '../../engine/core/events/event.ts';
import { sum } from '../../engine/core/values/statistics.ts';
import type { LoadedDomain } from '../../engine/shell/domain/loadDomain.ts';
import { startOf } from '../../engine/shell/start.ts';
import { settingOf } from '../../training/trainingKeys.ts';
import { askTrainer } from '../python/askTrainer.ts';
import type { Interpreter } from '../python/pythonEnvironment.ts';
import type { Io } from '../terminal/io.ts';
import type { PromptLength } from './needs.ts';
import type { Launch } from './target.ts';
import { refusedOptions } from './targetFaults.ts';

/** A prompt with fewer bytes per token is rare. One that fits at this ratio is not counted. */
const bytesPerToken = 2;
/** The context that current models have at least, in tokens. */
const leastRoom = 4096;

const countedSchema = z.object({ tokens: z.array(z.int()), limit: z.int().nullable() });

/** The policy and the tools that a model gets before a conversation, with their size in bytes. */
type Prompt = Pick<RolloutStarted, 'system' | 'tools'> & { readonly bytes: number };

/**
 * Counts the policy and the tools of each domain, as the model of a run receives them, and returns those that take most
 * of its context; null where they are short. Throws a `UsageError` where no task of a domain fits.
 * @param domains with their tools described
 */
export async function promptLengthOf(
  python: Interpreter,
  launch: Launch,
  domains: readonly LoadedDomain[],
  io: Io,
): Promise<PromptLength | null> {
  const context = Number(settingOf(launch, 'context'));
  const answer = settingOf(launch, 'max_tokens');
  const forAnswer = typeof answer === 'number' ? answer : 0;
  const prompts = domains.flatMap((domain) => {
    const found = extremesOf(domain);
    return found ? [{ name: basename(domain.folder), found }] : [];
  });
  const bytesThatFit = bytesPerToken * (Math.min(context, leastRoom) - forAnswer);
  const all = prompts.flatMap(({ found }) => found);
  if (all.every(({ bytes }) => bytes <= bytesThatFit)) return null;
  const { tokens, limit } = await counted(python, launch, all, io);
  const room = Math.min(context, limit ?? context);
  const lengths = prompts.map(({ name }, at) => {
    const [least = 0, most = 0] = tokens.slice(2 * at, 2 * at + 2);
    if (least >= room) throw refusedOptions(launch, tooLong(name, least, launch, { context, limit, forAnswer }));
    return { domain: name, tokens: most };
  });
  const most = lengths.reduce((one, other) => (other.tokens > one.tokens ? other : one));
  return { ...most, room, ...(typeof answer === 'number' ? { answer } : {}) };
}

function tooLong(
  domain: string,
  tokens: number,
  { config }: Launch,
  { context, limit, forAnswer }: { context: number; limit: number | null; forAnswer: number },
): string {
  const isOfModel = limit !== null && limit < context;
  const room = isOfModel ? `${config.model} takes at most ${limit}` : `context is ${context}`;
  const advice = isOfModel ? 'Choose another model' : `Raise it above ${tokens + forAnswer}`;
  return `context: the policy and the tools of ${domain} take ${tokens} tokens, and ${room}. ${advice}, or shorten the policy or the descriptions of the tools`;
}

/** Returns the shortest and the longest of what a model gets before the conversations of a domain's tasks. */
function extremesOf({ domain, tasks }: LoadedDomain): readonly [shortest: Prompt, longest: Prompt] | null {
  const seats = { agent: { type: 'gold' }, user: { type: 'agenda' } } as const;
  const sizes = new Map(domain.tools.map((tool) => [tool.name, bytesOf(JSON.stringify(offeredAs(tool)))]));
  const prompts = tasks
    .map((task): Prompt => {
      const { system, tools } = startOf(domain, '', task, { seed: '', trial: 0, basis: 'train', ...seats });
      return { system, tools, bytes: bytesOf(system) + sum(tools.map(({ name }) => sizes.get(name) ?? 0)) };
    })
    .toSorted((one, other) => one.bytes - other.bytes);
  const [shortest, longest] = [prompts[0], prompts.at(-1)];
  return shortest && longest ? [shortest, longest] : null;
}

const bytesOf = (text: string) => Buffer.byteLength(text);

/** Returns the tokens of prompts in the format of a run's model, and the most that the model takes. */
async function counted(python: Interpreter, launch: Launch, prompts: readonly Prompt[], io: Io) {
  const dialect = String(settingOf(launch, 'dialect'));
  const thinking = settingOf(launch, 'thinking') === true ? ['--thinking'] : [];
  const args = ['prompt', '--model', String(launch.config.model), '--dialect', dialect, ...thinking];
  const told = await askTrainer(io, python, args, {
    input: JSON.stringify(prompts.map(({ system, tools }) => ({ system, tools }))),
    refused: (words) => refusedOptions(launch, words),
  });
  return countedSchema.parse(JSON.parse(told));
}
