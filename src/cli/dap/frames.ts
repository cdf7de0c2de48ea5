import type { Location } from '../../engine/shell/diagnostic.ts';
import type { StaticDomain } from '../../engine/shell/load/loadDomain.ts';
import type { Debuggee, DebugStep } from './debuggee.ts';

/** One frame of the call stack: the step at the cursor, then the turns before it. */
export type Frame = {
  readonly index: number;
  readonly name: string;
  readonly file: string;
  readonly line: number;
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
    const { file, line } = placeOf(domain, step, index === 0 ? focus : undefined);
    return {
      index,
      name: index === 0 ? nameOf(step) : `turn ${step.state.turn}: ${nameOf(step)}`,
      file,
      line,
      step: step.n,
      subtle: index > 1,
    };
  });
}

function nameOf({ event, state }: DebugStep): string {
  switch (event.type) {
    case 'rolloutStarted':
      return `${event.task.id} begins`;
    case 'worldPrepared':
      return 'the world is prepared';
    case 'userReplied':
      return `user: ${clipped(event.content)}`;
    case 'agentReplied':
      return event.toolCalls.length > 0
        ? `agent calls ${event.toolCalls.map(({ name }) => name).join(', ')}`
        : `agent: ${clipped(event.content ?? '')}`;
    case 'rulesChecked': {
      const call = 'call' in state.phase ? state.phase.call.name : 'the call';
      const broken = event.verdicts.filter(({ verdict }) => verdict === 'violated').map(({ rule }) => rule);
      return broken.length > 0
        ? `before ${call}: ${broken.join(', ')} violated`
        : `before ${call}: ${event.verdicts.length} rules held`;
    }
    case 'toolCalled':
      return `${event.call.name} is called`;
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
      return `ended: ${event.reason}`;
    case 'sourceRead':
      return `the state of ${event.source} is read`;
    case 'verdictReached':
      return `${event.verdict.verifier} ${event.verdict.held ? 'held' : 'failed'}`;
    case 'rewarded':
      return `reward ${event.reward ?? 'none'}`;
  }
}

/** Where in the domain's files a step is about something: its rule, its tool, else its task. */
function placeOf(
  { locations, parts }: StaticDomain,
  { event, state }: DebugStep,
  focus: string | undefined,
): Pick<Location, 'file' | 'line'> {
  const task = locations.tasks.get(state.started.task.id) ?? locations.domain;
  switch (event.type) {
    case 'rulesChecked': {
      const about =
        focus ?? event.verdicts.find(({ verdict }) => verdict === 'violated')?.rule ?? event.verdicts[0]?.rule ?? '';
      return locations.policyRules.get(about) ?? { file: parts.policyFile, line: 1 };
    }
    case 'agentReplied':
      return locations.tools.get(event.toolCalls[0]?.name ?? '') ?? { file: parts.policyFile, line: 1 };
    case 'toolCalled':
      return locations.tools.get(event.call.name) ?? task;
    case 'databaseWritten':
    case 'toolReturned':
      return locations.tools.get(calledIn(state.messages, event.callId)) ?? task;
    default:
      return task;
  }
}

function calledIn(messages: DebugStep['state']['messages'], callId: string): string {
  return (
    messages
      .flatMap((message) => (message.role === 'agent' ? message.toolCalls : []))
      .findLast(({ id }) => id === callId)?.name ?? ''
  );
}

function clipped(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 67)}...` : line;
}
