import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { isProposal } from '../../../engine/core/dialogue/dialogue.ts';
import { rulesThat } from '../../../engine/core/domain/decisiveVerdict.ts';
import { baseTask } from '../../../engine/core/domain/taskVariant.ts';
import { endReasonText, rewardText } from '../../../engine/core/events/displayText.ts';
import { type Failure, verdictText } from '../../../engine/core/events/event.ts';
import { callsIn } from '../../../engine/core/events/message.ts';
import { counted } from '../../../engine/core/text/counted.ts';
import { lineExcerpt } from '../../../engine/core/text/excerpt.ts';
import type { FileLine, Location } from '../../../engine/shell/files/diagnostic.ts';
import type { LoadedDomain, TaskLocation } from '../../../engine/shell/load/loadedDomain.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';
import type { Debuggee } from './debuggee.ts';

/** One frame of the call stack: the step at the cursor, then the turns before it. */
export type Frame = {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** The end of the rule, where the frame is at a rule of the policy. */
  readonly ruleEnd: { readonly line: number; readonly column: number } | null;
  readonly step: number;
  readonly subtle: boolean;
};

/** @param focus the rule that a breakpoint stopped on */
export function framesAt({ steps, cursor, domain }: Debuggee, focus: string | undefined): readonly Frame[] {
  const current = steps[cursor];
  if (!current) return [];
  const turns = steps
    .slice(0, cursor)
    .filter(({ event }) => event.type === 'agentReplied')
    .reverse();
  return [current, ...turns].map((step, index) => {
    const { file, line } = stepLocation(domain, step, index === 0 ? focus : undefined);
    const rule = [...domain.locations.policyRules.values()].find((each) => each.file === file && each.line === line);
    return {
      name: index === 0 ? nameOf(step) : `turn ${step.state.turn}: ${nameOf(step)}`,
      file,
      line,
      ruleEnd: rule ? { line: rule.endLine, column: rule.endColumn } : null,
      step: step.n,
      subtle: index > 1,
    };
  });
}

/** Returns what happens at a step, in words. */
export function nameOf({ event, state }: Step): string {
  switch (event.type) {
    case 'rolloutStarted':
      return `${event.task.id} begins`;
    case 'worldPrepared':
      return "the task's initial state is set up";
    case 'worldSynced':
      return event.writes.length > 0 ? 'both sides are brought into step' : 'both sides are in step';
    case 'userReplied':
      return event.toolCalls
        ? `user calls ${event.toolCalls.map(({ name }) => name).join(', ')}`
        : `user: ${clipped(event.content)}`;
    case 'agentReplied':
      return event.toolCalls.length > 0
        ? `agent calls ${event.toolCalls.map(({ name }) => name).join(', ')}`
        : `agent: ${clipped(event.content ?? '')}`;
    case 'rulesChecked': {
      const call = ('call' in state.phase && state.phase.call?.name) || 'the call';
      const moment = event.callId !== null ? `before ${call}` : state.ended ? 'at the end' : 'after what was said';
      const violated = rulesThat('violated', event.verdicts);
      if (violated.length > 0) return `${moment}: ${violated.join(', ')} violated`;
      const held = rulesThat('held', event.verdicts).length;
      const unknown = rulesThat('unknown', event.verdicts);
      return `${moment}: ${[
        ...(held > 0 ? [`${counted(held, 'rule')} held`] : []),
        ...(unknown.length > 0 ? [`${unknown.join(', ')} unknown`] : []),
      ].join(', ')}`;
    }
    case 'toolCalled':
      return `${event.call.name} is called${event.by ? ' by the user' : ''}`;
    case 'faultInjected':
      return `seeded fault: ${event.fault.type}`;
    case 'sourceSaved':
      return `${event.source} is saved`;
    case 'databaseWritten':
      return 'the database is written';
    case 'toolReturned':
      return event.isError ? 'the tool returns an error' : 'the tool returns';
    case 'worldEdited':
      return 'the database was edited';
    case 'rolloutEnded':
      return endReasonText(event.reason);
    case 'sourceRead':
      return `the state of ${event.source} is read`;
    case 'judged':
      return `judged: ${event.holds === null ? 'no answer' : event.holds ? 'yes' : 'no'}`;
    case 'verdictReached':
      return verdictText(event.verdict);
    case 'rewarded':
      return rewardText(event.reward);
  }
}

/**
 * Returns where in the domain's files a step is about something: its rule, its tool, its part of the task, else the
 * task.
 */
export function stepLocation(
  { locations, parts, domain }: LoadedDomain,
  { event, state }: Step,
  focus: string | undefined,
): FileLine {
  const { started } = state;
  const ownTask = locations.tasks.get(baseTask(started.task.id));
  const task = ownTask ?? locations.domain;
  const policy = { file: parts.policyFile, line: 1 };
  switch (event.type) {
    case 'rulesChecked': {
      const about =
        focus ?? event.verdicts.find(({ verdict }) => verdict === 'violated')?.rule ?? event.verdicts[0]?.rule ?? '';
      return locations.policyRules.get(about) ?? policy;
    }
    case 'worldSynced':
      return parts.sync ?? task;
    case 'userReplied': {
      const [call] = event.toolCalls ?? [];
      return (call && locations.tools.get(call.name)) ?? task;
    }
    case 'agentReplied': {
      const [call] = event.toolCalls;
      if (call) return locations.tools.get(call.name) ?? task;
      const isScripted = started.seats.agent === 'scripted' && event.origin === undefined;
      const line = isScripted ? ownTask?.script[state.turn - 1] : undefined;
      return line ?? locations.policyRules.get(focus ?? ruleOf(domain, event.content ?? '')) ?? policy;
    }
    case 'toolCalled':
      return locations.tools.get(event.call.name) ?? task;
    case 'databaseWritten':
    case 'toolReturned':
      return locations.tools.get(calledIn(state.messages, event.callId)) ?? task;
    case 'rolloutEnded':
      return failedAt(event.failure) ?? task;
    case 'verdictReached':
      return partOf(ownTask, event.verdict.verifier) ?? task;
    default:
      return task;
  }
}

/** The rule that judges what an agent says: a proposal is what the `confirmed` check looks for. */
function ruleOf({ rules, lexicon }: LoadedDomain['domain'], text: string): string {
  const confirmed = rules.find(({ check }) => check === 'confirmed');
  return confirmed && isProposal(text, lexicon) ? confirmed.rule : '';
}

/** Returns where a failure says that it comes from, unless it was recorded where the domain has another folder. */
function failedAt(failure: Failure | undefined): FileLine | undefined {
  const { file, line = 1 } = failure ?? {};
  return file !== undefined && isAbsolute(file) && existsSync(file) ? { file, line } : undefined;
}

/** Returns where a task says what a verifier demands. */
function partOf(task: TaskLocation | undefined, verifier: string): Location | undefined {
  const parts = { database: task?.actions, assertions: task?.assertions, communicate: task?.communicate };
  return Object.entries(parts).find(([name]) => name === verifier)?.[1]?.[0];
}

/** The tool that a call of this id called. */
export function calledIn(messages: Step['state']['messages'], callId: string): string {
  return messages.flatMap(callsIn).findLast(({ id }) => id === callId)?.name ?? '';
}

const clipped = (text: string) => lineExcerpt(text, 70, '...');
