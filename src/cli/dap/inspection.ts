import { basename } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { callsIn } from '../../engine/core/events/message.ts';
import type { Json } from '../../engine/core/values/json.ts';
import { isWithin } from '../../engine/shell/files/boundedFile.ts';
import { requestNamed, type SentRequest, sentRequests } from '../../engine/shell/records/sentRequests.ts';
import type { Step } from '../../engine/shell/rollout/ports.ts';
import { UsageError } from '../terminal/io.ts';
import type { ClientLines } from './breakpoints/breakpointRequests.ts';
import { completionsOf } from './completions.ts';
import { callsAhead, Destinations, destinationsAt, replyUpTo } from './playback/destinations.ts';
import type { Stop } from './playback/playback.ts';
import type { Debuggee } from './rollout/debuggee.ts';
import type { Edit } from './rollout/edit.ts';
import { framesAt } from './rollout/frames.ts';
import { assigned, editable, placeNamed } from './variables/assignment.ts';
import { evaluate } from './variables/expression.ts';
import { type InlineValue, inlineValuesAt, meaningOf } from './variables/inlineValues.ts';
import { openedValue } from './variables/openedValue.ts';
import { References } from './variables/references.ts';
import { pageSize, type Rows, shownRows, type Variable } from './variables/rows.ts';
import { scopesAt } from './variables/scopes.ts';
import { jsonContents, messageValue, shortened } from './variables/variables.ts';

export const thread = 1;

/** The text of a value as a client opens it in an editor tab. `variablesReference` and `name` edit it. */
export type WholeText = {
  readonly name: string;
  readonly text: string;
  readonly language: string;
  readonly isReadOnly: boolean;
  readonly variablesReference: number;
};

/** Answers the requests that look: frames, scopes, variables, expressions. Changes nothing. */
export class Inspection {
  readonly references = new References();
  /** The destinations of `goto` that the client has received. */
  readonly destinations = new Destinations();
  /** Whether the client asks for the elements of a long list a page at a time. */
  pages = false;
  /** Whether the client shows types of variables. */
  showsTypes = false;
  /** Whether the client draws a box with the text of an exception below the line of the first frame, as VS Code does. */
  drawsBox = false;
  readonly #lines: ClientLines;

  constructor(lines: ClientLines) {
    this.#lines = lines;
  }

  /** A rollout is one thread, named after its task. */
  threads(debuggee: Debuggee | undefined): DebugProtocol.ThreadsResponse['body'] {
    const started = debuggee?.steps[0]?.event;
    return { threads: [{ id: thread, name: started?.type === 'rolloutStarted' ? started.task.id : 'rollout' }] };
  }

  /** @param stop where the session is, and why */
  frames(
    debuggee: Debuggee | undefined,
    stop: Stop | undefined,
    { startFrame = 0, levels = 0 }: DebugProtocol.StackTraceArguments,
  ): DebugProtocol.StackTraceResponse['body'] {
    const frames = debuggee ? framesAt(debuggee, stop?.rule) : [];
    const shown = frames.slice(startFrame, levels > 0 ? startFrame + levels : undefined);
    return {
      totalFrames: frames.length,
      stackFrames: shown.map((frame) => {
        const { step, name, file, subtle, ruleEnd } = frame;
        // At the beginning of a rule, the box would divide the rule.
        const isBoxed = this.drawsBox && stop?.exception !== undefined && frame === frames[0];
        const { line, column } = (isBoxed && ruleEnd) || { line: frame.line, column: 1 };
        return {
          id: step + 1,
          name,
          line: this.#lines.toClient(line),
          column: this.#lines.toClient(column),
          source: { name: basename(file), path: file },
          canRestart: replyUpTo(debuggee?.steps ?? [], step) !== undefined,
          ...(subtle ? { presentationHint: 'subtle' as const } : {}),
        };
      }),
    };
  }

  scopes(debuggee: Debuggee | undefined, frame: number | undefined): DebugProtocol.ScopesResponse['body'] {
    const step = stepOf(debuggee, frame);
    const scopes = debuggee && step ? scopesAt(debuggee, step) : [];
    return {
      scopes: scopes.map(({ name, children, prepare, isExpensive = false }) => ({
        name,
        variablesReference: this.references.refer(children, prepare),
        expensive: isExpensive,
      })),
    };
  }

  /** Of many rows those that were asked for, else pages of them: a large table never travels whole. */
  variables({
    variablesReference,
    filter,
    start = 0,
    count = 0,
  }: DebugProtocol.VariablesArguments): DebugProtocol.VariablesResponse['body'] {
    const { rows, isKept } = this.references.find(variablesReference);
    const isNumbered = this.#isNumbered(rows);
    if (filter === (isNumbered ? 'named' : 'indexed')) return { variables: [] };
    const shown = isNumbered && count > 0 ? rows : shownRows(rows);
    const page = shown.page(start, count > 0 ? count : shown.total);
    return { variables: page.map((variable) => this.#shown(variable, isKept)) };
  }

  /** Whether a client learns how many rows there are and asks for them by their numbers. */
  #isNumbered({ isList, total }: Rows): boolean {
    return this.pages && isList && total > pageSize;
  }

  variable(reference: number, name: string): Variable | undefined {
    return this.references.find(reference).rows.named(name);
  }

  /** Returns where a line of a file leads. */
  gotoTargets(
    debuggee: Debuggee | undefined,
    { source, line }: DebugProtocol.GotoTargetsArguments,
  ): DebugProtocol.GotoTargetsResponse['body'] {
    const found = debuggee ? destinationsAt(debuggee, source?.path ?? '', this.#lines.fromClient(line)) : [];
    return { targets: [...this.destinations.offer(found, { line })] };
  }

  /** The calls that can be stepped into, where there are several; only from where the session is. */
  stepInTargets(
    debuggee: Debuggee | undefined,
    { frameId }: DebugProtocol.StepInTargetsArguments,
  ): DebugProtocol.StepInTargetsResponse['body'] {
    const isHere = debuggee && stepOf(debuggee, frameId) === debuggee.current;
    return { targets: [...this.destinations.offer(isHere ? callsAhead(debuggee) : [], {})] };
  }

  /** Forgets all references after a fork, because they belong to another rollout. */
  forgetAll(): void {
    this.references.forgetAll();
    this.destinations.forgetAll();
  }

  /**
   * Returns the place of a variable, or of what an expression names, in the database; an error message if it has none.
   */
  place(
    debuggee: Debuggee | undefined,
    { variablesReference = 0, name = '', frameId, asAddress }: DebugProtocol.DataBreakpointInfoArguments,
  ): Variable['place'] | string {
    if (asAddress) return `there are no addresses here: name a path, such as db.orders.W1.status`;
    if (variablesReference > 0) return this.variable(variablesReference, name)?.place;
    return placeNamed(name, stepOf(debuggee, frameId));
  }

  /** Returns the edit for a new value of a variable; null if the value is unchanged. Throws a `UsageError`. */
  variableEdit({ variablesReference, name, value }: DebugProtocol.SetVariableArguments): Edit | null {
    const moved = `the rollout has continued since ${name} was shown: edit its current value`;
    if (this.references.isGone(variablesReference)) throw new UsageError(moved);
    const variable = this.variable(variablesReference, name);
    if (variable && variable.value === value) return null;
    const edit = variable?.edit?.(value) ?? `${name} can't be edited: ${editable}`;
    if (typeof edit === 'string') throw new UsageError(edit);
    // A message stays what it is when the rollout moves; a row of the database is edited where the rollout is.
    if (edit.type === 'database' && this.references.isOfBefore(variablesReference)) throw new UsageError(moved);
    return edit;
  }

  /** The same of what an expression names, in a watch or in the Debug Console. */
  expressionEdit(
    debuggee: Debuggee | undefined,
    { expression, value, frameId }: DebugProtocol.SetExpressionArguments,
  ): Edit | null {
    const step = stepOf(debuggee, frameId);
    if (!step) throw new UsageError('nothing has happened yet');
    const edit = assigned(expression, value, step);
    if (typeof edit === 'string') throw new UsageError(edit);
    if (edit?.type === 'database' && step !== debuggee?.current)
      throw new UsageError(
        `${expression} can be edited only at the current step: go to it, or choose the top row of the call stack`,
      );
    return edit;
  }

  /** The value of a path, to be opened as long as the session lasts. Throws a `UsageError` if it does not exist. */
  evaluated(
    debuggee: Debuggee | undefined,
    frame: number | undefined,
    text: string,
  ): DebugProtocol.EvaluateResponse['body'] {
    const step = stepOf(debuggee, frame);
    const found = step ? evaluate(text, step) : 'nothing has happened yet';
    if (typeof found === 'string') throw new UsageError(found);
    return this.#evaluated(found.value);
  }

  /**
   * Returns what a hover over a word or a path of a domain's file shows. Throws a `UsageError` where it means nothing.
   */
  hovered(
    debuggee: Debuggee | undefined,
    frame: number | undefined,
    text: string,
  ): DebugProtocol.EvaluateResponse['body'] {
    const step = stepOf(debuggee, frame);
    const meaning = step && meaningOf(text, step);
    return meaning === undefined ? this.evaluated(debuggee, frame, text) : this.#evaluated(meaning);
  }

  /**
   * Returns the values shown next to the lines of a file.
   * @param unsaved the editor's text of the file, if it is not saved
   */
  inlineValues(
    debuggee: Debuggee | undefined,
    frame: number | undefined,
    file: string,
    unsaved: string | undefined,
  ): { readonly values: readonly InlineValue[] } {
    const step = stepOf(debuggee, frame);
    if (!debuggee || !step || !isWithin(debuggee.domain.folder, file)) return { values: [] };
    debuggee.places.refresh(file);
    const domain = unsaved === undefined ? debuggee.domain : debuggee.places.withUnsaved(file, unsaved);
    const values = inlineValuesAt(domain, step, file);
    return { values: values.map(({ line, text }) => ({ line: this.#lines.toClient(line), text })) };
  }

  #evaluated(value: Json): DebugProtocol.EvaluateResponse['body'] {
    if (typeof value !== 'object' || value === null) return { result: JSON.stringify(value), variablesReference: 0 };
    return { result: shortened(value), ...this.#opened(jsonContents(value), true) };
  }

  /**
   * The exact request of this name, else the last one that was sent up to the step of a frame. Throws a `UsageError`
   * if no request was sent.
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
    // VS Code takes `start` as an index into the text, from 0.
    return { targets: [...completionsOf(typed, stepOf(debuggee, frameId), debuggee)] };
  }

  /** Of the filter that stopped, by its name in small letters. */
  exception(stop: Stop | undefined): DebugProtocol.ExceptionInfoResponse['body'] {
    const { exception = 'none', text = '' } = stop ?? {};
    return { exceptionId: exception.toLowerCase(), description: text, breakMode: 'always' };
  }

  /** The whole text of a row, for an editor tab, and what it is edited by from there. */
  whole(debuggee: Debuggee | undefined, reference: number, name: string): WholeText {
    const variable = this.variable(reference, name);
    const opened = debuggee && variable ? openedValue(debuggee, variable) : null;
    if (!opened) throw new UsageError(`${name} has no text to open: edit it in VARIABLES`);
    const { text, language, variable: row } = opened;
    return { name, text, language, isReadOnly: !row.edit, variablesReference: this.references.keep(() => [row]) };
  }

  /**
   * Returns the agent's last message up to the step of a frame, and what edits it; null where the agent has said nothing.
   * A call has no text: in its place the agent says something else. `line` is that of the frame, or where its rule begins.
   */
  reply(
    debuggee: Debuggee | undefined,
    stop: Stop | undefined,
    frame: number | undefined,
  ): {
    readonly reply: (WholeText & { readonly isCall: boolean; readonly agent: string; readonly line: number }) | null;
  } {
    const { messages = [] } = stepOf(debuggee, frame)?.state ?? {};
    const index = messages.findLastIndex(({ role }) => role === 'agent');
    const message = messages[index];
    if (!debuggee || !message) return { reply: null };
    const variable = messageValue(message, index);
    const row = openedValue(debuggee, variable)?.variable ?? variable;
    const isCall = callsIn(message).length > 0;
    const text = isCall ? '' : variable.value;
    const variablesReference = this.references.keep(() => [row]);
    const frames = framesAt(debuggee, stop?.rule);
    const { line = 1 } = frames.find(({ step }) => step + 1 === frame) ?? frames[0] ?? {};
    const reply = {
      ...{ name: row.name, text, isCall, language: 'markdown', isReadOnly: false, variablesReference },
      agent: debuggee.forkAgent,
      line: this.#lines.toClient(line),
    };
    return { reply };
  }

  /** Whether a variable is in an editor tab. */
  isInTab(reference: number): boolean {
    return this.references.find(reference).isKept;
  }

  #shown(variable: Variable, isKept: boolean): DebugProtocol.Variable {
    const { name, value, type, expression, edit, whole } = variable;
    return {
      name,
      value,
      ...this.#opened(variable, isKept),
      ...(type && this.showsTypes ? { type } : {}),
      ...(expression ? { evaluateName: expression } : {}),
      // A client's menus tell by it which rows an editor tab can be opened for.
      ...(whole ? { __vscodeVariableMenuContext: whole.edit ? 'editableText' : 'text' } : {}),
      ...(edit ? {} : { presentationHint: { attributes: ['readOnly'] } }),
    };
  }

  /** The number under which a client asks for what is in a variable, and how many there are where it asks for some. */
  #opened(
    { children, rows, prepare }: Pick<Variable, 'children' | 'rows' | 'prepare'>,
    isKept: boolean,
  ): Pick<DebugProtocol.Variable, 'variablesReference' | 'indexedVariables'> {
    const of = rows ?? children;
    if (!of) return { variablesReference: 0 };
    const many = rows?.();
    return {
      variablesReference: isKept ? this.references.keep(of) : this.references.refer(of, prepare),
      ...(many && this.#isNumbered(many) ? { indexedVariables: many.total } : {}),
    };
  }
}

/** The step of a frame; the one at the cursor where none is named. */
export function stepOf(debuggee: Debuggee | undefined, frame: number | undefined): Step | undefined {
  return debuggee?.steps[(frame ?? 0) - 1] ?? debuggee?.current;
}
