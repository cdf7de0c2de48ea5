import { resolve } from 'node:path';
import { callsIn, callText, type ToolCall } from '../../../engine/core/events/message.ts';
import type { LoadedDomain } from '../../../engine/shell/load/loadedDomain.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import { UsageError } from '../../terminal/io.ts';
import { place, stopsAt } from '../breakpoints/target.ts';
import type { Debuggee } from '../rollout/debuggee.ts';
import { nameOf, stepLocation } from '../rollout/frames.ts';

/** Somewhere that a session can go, as a client offers it to a person. */
export type Destination = { readonly label: string } & (
  | { readonly type: 'step'; readonly step: number }
  /** One that may not be recorded yet. */
  | { readonly type: 'turn'; readonly turn: number }
  | { readonly type: 'call'; readonly callId: string }
);

/** Numbers by which a client names what it was offered. A fork has other steps, so nothing that was offered holds. */
export class Destinations {
  #next = 1;
  readonly #offered = new Map<number, Destination>();

  offer<Shown extends object>(
    destinations: readonly Destination[],
    shown: Shown,
  ): readonly (Shown & { readonly id: number; readonly label: string })[] {
    return destinations.map((destination) => {
      const id = this.#next++;
      this.#offered.set(id, destination);
      return { id, label: destination.label, ...shown };
    });
  }

  /** Throws a `UsageError` for a number that is no longer valid. */
  find(id: number): Destination {
    const found = this.#offered.get(id);
    if (!found) throw new UsageError('this destination is no longer valid: request the destinations again');
    return found;
  }

  forgetAll(): void {
    this.#offered.clear();
  }
}

/**
 * Returns where a line (from 1) of a domain's file leads: the calls of a tool, the checks of a rule, what a persona
 * said, the turns of a task, and each step that is on this very line.
 */
export function destinationsAt(debuggee: Debuggee, file: string, line: number): readonly Destination[] {
  const { domain, steps } = debuggee;
  const path = resolve(file);
  const at = place(domain, path, line);
  const target = 'target' in at ? at.target : null;
  const isReached = (step: Step) => target !== null && stopsAt(step, target);
  const isHere = (step: Step) => isOn(domain, step, path, line);
  if (target?.type !== 'task')
    return steps.filter((step) => isReached(step) || (target?.type !== 'tool' && isHere(step))).map(stepDestination);
  // All that the domain says nothing about is at the head of the task: its turns are what one looks for there.
  const here = line === at.line ? [] : steps.filter(isHere);
  return here.length > 0
    ? here.map(stepDestination)
    : [...steps.filter(isReached).map(stepDestination), ...turns(debuggee)];
}

function isOn(domain: LoadedDomain, step: Step, path: string, line: number): boolean {
  const stands = stepLocation(domain, step, undefined);
  return stands.line === line && resolve(stands.file) === path;
}

function stepDestination(step: Step): Destination {
  const turn = step.state.turn;
  return { type: 'step', step: step.n, label: `${turn > 0 ? `turn ${turn}, ` : ''}step ${step.n}: ${nameOf(step)}` };
}

/** Every recorded turn, and the next one of a rollout that can continue. */
function turns({ steps, isLive }: Debuggee): readonly Destination[] {
  const recorded = steps.filter(({ event }) => event.type === 'agentReplied');
  const next = (recorded.at(-1)?.state.turn ?? 0) + 1;
  return [
    ...recorded.map(stepDestination),
    ...(isLive ? [{ type: 'turn' as const, turn: next, label: `turn ${next}: not played yet` }] : []),
  ];
}

/** The calls of the message under way that are still to come, where there are several to choose from. */
export function callsAhead({ steps, cursor }: Debuggee): readonly Destination[] {
  const said = steps.slice(0, cursor + 1).findLast(({ event }) => isReply(event.type));
  if (!said) return [];
  const calls = callsOf(said);
  const made = new Set(
    steps.slice(said.n, cursor + 1).flatMap(({ event }) => (event.type === 'toolCalled' ? [event.call.id] : [])),
  );
  const ahead = calls.filter(({ id }) => !made.has(id));
  return calls.length < 2 ? [] : ahead.map((call) => ({ type: 'call', callId: call.id, label: callText(call) }));
}

function callsOf({ n, state }: Step): readonly ToolCall[] {
  const message = state.messages.findLast(({ step }) => step === n);
  return message ? callsIn(message) : [];
}

const isReply = (type: Step['event']['type']) => type === 'agentReplied' || type === 'userReplied';

/** Returns the last answer of a seat up to a step, which a new sample replaces. Undefined before its first answer. */
export function replyUpTo(steps: readonly Step[], step: number): Step | undefined {
  return steps.slice(0, step + 1).findLast(({ event }) => isReply(event.type));
}
