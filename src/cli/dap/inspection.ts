import { basename } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { Step } from '../../engine/shell/driver.ts';
import { requestNamed, type SentRequest, sentRequests } from '../../engine/shell/sentRequests.ts';
import { UsageError } from '../io.ts';
import type { ClientLines } from './breakpointRequests.ts';
import { completionsOf } from './console.ts';
import type { Debuggee } from './debuggee.ts';
import { evaluate } from './expression.ts';
import { framesAt } from './frames.ts';
import { References } from './references.ts';
import { jsonChildren, scopesAt, shortened, type Variable } from './variables.ts';

export const thread = 1;

/** Answers the requests that look: frames, scopes, variables, expressions. Changes nothing. */
export class Inspection {
  readonly references = new References();
  /** Whether the client shows types of variables. */
  showsTypes = false;
  readonly #lines: ClientLines;

  constructor(lines: ClientLines) {
    this.#lines = lines;
  }

  /** A rollout is one thread, named after its task. */
  threads(debuggee: Debuggee | undefined): DebugProtocol.ThreadsResponse['body'] {
    const started = debuggee?.steps[0]?.event;
    return { threads: [{ id: thread, name: started?.type === 'rolloutStarted' ? started.task.id : 'rollout' }] };
  }

  /** @param rule the one that a breakpoint stopped on */
  frames(
    debuggee: Debuggee | undefined,
    rule: string | undefined,
    { startFrame = 0, levels = 0 }: DebugProtocol.StackTraceArguments,
  ): DebugProtocol.StackTraceResponse['body'] {
    const frames = debuggee ? framesAt(debuggee, rule) : [];
    const shown = frames.slice(startFrame, levels > 0 ? startFrame + levels : undefined);
    return {
      totalFrames: frames.length,
      stackFrames: shown.map(({ step, name, file, line, subtle }) => ({
        id: step + 1,
        name,
        line: this.#lines.toClient(line),
        column: this.#lines.toClient(1),
        source: { name: basename(file), path: file },
        ...(subtle ? { presentationHint: 'subtle' as const } : {}),
      })),
    };
  }

  scopes(debuggee: Debuggee | undefined, frame: number | undefined): DebugProtocol.ScopesResponse['body'] {
    const step = stepOf(debuggee, frame);
    const guardAt = (n: number) => debuggee?.guardNote(n);
    const scopes = step ? scopesAt(step, debuggee?.steps[step.n - 1], guardAt) : [];
    return {
      scopes: scopes.map(({ name, children }) => ({
        name,
        variablesReference: this.references.refer(children),
        expensive: false,
      })),
    };
  }

  variables({
    variablesReference,
    start = 0,
    count = 0,
  }: DebugProtocol.VariablesArguments): DebugProtocol.VariablesResponse['body'] {
    const { variables, isKept } = this.references.find(variablesReference);
    const page = variables.slice(start, count > 0 ? start + count : undefined);
    return { variables: page.map((variable) => this.#shown(variable, isKept)) };
  }

  variable(reference: number, name: string): Variable | undefined {
    return this.references.find(reference).variables.find((each) => each.name === name);
  }

  /** The value of a path, to be opened as long as the session lasts. Throws a `UsageError` where there is none. */
  evaluated(
    debuggee: Debuggee | undefined,
    frame: number | undefined,
    text: string,
  ): DebugProtocol.EvaluateResponse['body'] {
    const step = stepOf(debuggee, frame);
    const found = step ? evaluate(text, step) : 'nothing has happened yet';
    if (typeof found === 'string') throw new UsageError(found);
    const { value } = found;
    if (typeof value !== 'object' || value === null) return { result: JSON.stringify(value), variablesReference: 0 };
    return { result: shortened(value), variablesReference: this.references.keep(() => jsonChildren(value)) };
  }

  /**
   * The exact request of this name, else the last one that was sent up to the step of a frame. Throws a `UsageError`
   * where there is none.
   */
  request(debuggee: Debuggee | undefined, frame: number | undefined, name: string): SentRequest {
    const step = stepOf(debuggee, frame);
    if (!debuggee || !step) throw new UsageError('nothing has happened yet');
    const requests = sentRequests(debuggee.recording);
    const upTo = requests.findLast((each) => each.step <= step.n);
    const found = name === '' && upTo ? upTo : requestNamed(requests, name === '' ? String(step.n) : name);
    if (typeof found === 'string') throw new UsageError(found);
    return found;
  }

  completions(
    debuggee: Debuggee | undefined,
    { text = '', column = 1, frameId }: DebugProtocol.CompletionsArguments,
  ): DebugProtocol.CompletionsResponse['body'] {
    const typed = text.slice(0, this.#lines.fromClient(column) - 1);
    return { targets: [...completionsOf(typed, stepOf(debuggee, frameId))] };
  }

  /** Of the kind of step that an exception filter stopped at. */
  exception(debuggee: Debuggee | undefined, description: string): DebugProtocol.ExceptionInfoResponse['body'] {
    const type = debuggee?.current?.event.type;
    const kind = type === 'rulesChecked' ? 'policy violation' : type === 'toolReturned' ? 'tool error' : 'reward 0';
    return { exceptionId: kind, description, breakMode: 'always' };
  }

  #shown({ name, value, type, expression, edit, children }: Variable, isKept: boolean): DebugProtocol.Variable {
    const refer = (of: () => readonly Variable[]) => (isKept ? this.references.keep(of) : this.references.refer(of));
    return {
      name,
      value,
      variablesReference: children ? refer(children) : 0,
      ...(type && this.showsTypes ? { type } : {}),
      ...(expression ? { evaluateName: expression } : {}),
      ...(edit ? {} : { presentationHint: { attributes: ['readOnly'] } }),
    };
  }
}

/** The step of a frame; the one at the cursor where none is named. */
function stepOf(debuggee: Debuggee | undefined, frame: number | undefined): Step | undefined {
  return debuggee?.steps[(frame ?? 0) - 1] ?? debuggee?.current;
}
