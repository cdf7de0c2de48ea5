import {
  ContinuedEvent,
  DebugSession,
  InitializedEvent,
  InvalidatedEvent,
  StoppedEvent,
  TerminatedEvent,
  ThreadEvent,
} from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { messageOf } from '../../engine/shell/fault.ts';
import type { LoadedDomain } from '../../engine/shell/load/loadDomain.ts';
import { parseTurn } from '../../engine/shell/seats/typedTurn.ts';
import { UsageError } from '../io.ts';
import { modelWait } from '../modelWait.ts';
import { BreakpointRequests, type ClientLines } from './breakpointRequests.ts';
import { capabilities } from './capabilities.ts';
import { readConfiguration } from './configuration.ts';
import { type Command, help, parseCommand } from './console.ts';
import type { Debuggee } from './debuggee.ts';
import { explanationOf } from './explanation.ts';
import { Inspection, thread } from './inspection.ts';
import { Narrator } from './narrator.ts';
import { attached, launched } from './opening.ts';
import { Person } from './person.ts';
import { Playback, type Stop } from './playback.ts';

export type SessionOptions = {
  /** What a client must say to launch or attach; null where nobody else can reach this session. */
  readonly token?: string | null;
};

/** What a request is answered with, and what is to be done once the answer is sent. */
type Answer<Body> = { readonly body: Body; readonly after?: () => void };

const editable = 'only messages, arguments of calls and values of the database can';

/** Requests that move, and what each does once it is answered. */
const moves: ReadonlyMap<string, (playback: Playback) => void | Promise<void>> = new Map([
  ['continue', (playback) => playback.continue()],
  ['next', (playback) => playback.toNextTurn()],
  ['stepIn', (playback) => playback.toNextStep()],
  ['stepOut', (playback) => playback.toEndOfTurn()],
  ['stepBack', (playback) => playback.back()],
  ['reverseContinue', (playback) => playback.reverse()],
]);

/** Requests that the base class hands to a method of their own below. */
const handed: ReadonlySet<string> = new Set(
  'initialize launch attach configurationDone disconnect terminate setVariable pause evaluate'.split(' '),
);

/** Translates between the Debug Adapter Protocol (1.71) and a rollout that is played; decides nothing about rollouts. */
export class RehearsalSession extends DebugSession {
  #client: DebugProtocol.InitializeRequestArguments = { adapterID: 'rehearsal' };
  #playback: Playback | null = null;
  #isOpening = false;
  #isOver = false;
  readonly #token: string | null;
  readonly #configured = Promise.withResolvers<void>();
  readonly #lines: ClientLines = {
    toClient: (line) => this.convertDebuggerLineToClient(line),
    fromClient: (line) => this.convertClientLineToDebugger(line),
  };
  readonly #breakpoints = new BreakpointRequests(this.#lines);
  readonly #inspection = new Inspection(this.#lines);
  readonly #narrator = new Narrator((event) => this.sendEvent(event), this.#inspection.references, this.#lines);
  readonly #person = new Person((text) => this.#narrator.print(text));
  readonly #wait = modelWait((text) => this.#narrator.print(text));

  constructor({ token = null }: SessionOptions = {}) {
    super();
    this.#token = token;
    this.setDebuggerLinesStartAt1(true);
    this.setDebuggerColumnsStartAt1(true);
    // The base class ends the process over a message that is no JSON; that is said. A client that is gone can't be told.
    this.removeAllListeners('error');
    this.on('error', ({ body }: { readonly body?: unknown }) => {
      const text = String(body);
      if (!/^(?:in|out)Stream error/.test(text)) this.#narrator.print(text, 'stderr');
      else if (!this.#isOver) this.shutdown();
    });
  }

  /** Requests that place or look; their arguments may be missing. */
  readonly #looks: ReadonlyMap<string, (args: never) => object> = new Map<string, (args: never) => object>([
    ['setBreakpoints', (args: DebugProtocol.SetBreakpointsArguments) => this.#breakpoints.set(args)],
    ['breakpointLocations', (args: DebugProtocol.BreakpointLocationsArguments) => this.#breakpoints.locations(args)],
    [
      'setFunctionBreakpoints',
      (args: DebugProtocol.SetFunctionBreakpointsArguments) => this.#breakpoints.setFunctions(args),
    ],
    ['setDataBreakpoints', (args: DebugProtocol.SetDataBreakpointsArguments) => this.#breakpoints.setData(args)],
    [
      'setExceptionBreakpoints',
      (args: DebugProtocol.SetExceptionBreakpointsArguments) => this.#breakpoints.setExceptions(args),
    ],
    [
      'dataBreakpointInfo',
      ({ variablesReference = 0, name }: DebugProtocol.DataBreakpointInfoArguments) =>
        this.#breakpoints.dataInfo(name, this.#inspection.variable(variablesReference, name)),
    ],
    ['exceptionInfo', () => this.#inspection.exception(this.#debuggee, this.#playback?.stop.text ?? '')],
    ['threads', () => this.#inspection.threads(this.#debuggee)],
    [
      'stackTrace',
      (args: DebugProtocol.StackTraceArguments) =>
        this.#inspection.frames(this.#debuggee, this.#playback?.stop.rule, args),
    ],
    ['scopes', ({ frameId }: DebugProtocol.ScopesArguments) => this.#inspection.scopes(this.#debuggee, frameId)],
    ['variables', (args: DebugProtocol.VariablesArguments) => this.#inspection.variables(args)],
    [
      'rehearsal/request',
      ({ frameId, name = '' }: { readonly frameId?: number; readonly name?: string }) =>
        this.#inspection.request(this.#debuggee, frameId, name),
    ],
    ['completions', (args: DebugProtocol.CompletionsArguments) => this.#inspection.completions(this.#debuggee, args)],
  ]);

  get #debuggee(): Debuggee | undefined {
    return this.#playback?.debuggee;
  }

  override shutdown(): void {
    void this.#close().finally(() => super.shutdown());
  }

  protected override dispatchRequest(request: DebugProtocol.Request): void {
    const { command, seq } = request;
    if (handed.has(command)) {
      // The protocol's default, without which the base class refuses a client.
      const format = command === 'initialize' ? { pathFormat: 'path' } : {};
      super.dispatchRequest({ ...request, arguments: { ...format, ...request.arguments } } as typeof request);
      return;
    }
    const response = { seq: 0, type: 'response', request_seq: seq, command, success: true };
    const look = this.#looks.get(command);
    const move = moves.get(command);
    if (look) void this.#answer(response, () => ({ body: look((request.arguments ?? {}) as never) }));
    else if (move) void this.#answer(response, () => this.#moved(move));
    else this.#refuse(response, `Rehearsal has no request "${command}"`, false);
  }

  /** A move that comes while the rollout runs is refused. */
  #moved(move: (playback: Playback) => void | Promise<void>): Answer<object> {
    const playback = this.#started();
    playback.refuseWhileRunning();
    return { body: { allThreadsContinued: true }, after: () => void move(playback) };
  }

  protected override initializeRequest(
    response: DebugProtocol.InitializeResponse,
    args: DebugProtocol.InitializeRequestArguments,
  ): void {
    this.#client = args;
    this.#inspection.showsTypes = args.supportsVariableType === true;
    this.#narrator.hasColours = args.supportsANSIStyling === true;
    response.body = capabilities;
    this.sendResponse(response);
  }

  protected override configurationDoneRequest(response: DebugProtocol.ConfigurationDoneResponse): void {
    this.sendResponse(response);
    this.#configured.resolve();
  }

  protected override launchRequest(response: DebugProtocol.LaunchResponse, args: object): void {
    void this.#begin(response, args, 'launch');
  }

  protected override attachRequest(response: DebugProtocol.AttachResponse, args: object): void {
    void this.#begin(response, args, 'attach');
  }

  async #begin(response: DebugProtocol.Response, args: object, request: 'launch' | 'attach'): Promise<void> {
    let playback: Playback;
    try {
      playback = await this.#opened(args, request);
    } catch (error) {
      this.#refuse(response, messageOf(error));
      return;
    }
    this.sendResponse(response);
    this.sendEvent(new ThreadEvent('started', thread));
    await this.#configured.promise;
    await playback.begin(request);
  }

  /** Reads the configuration and opens what it names. Throws what a person can read. */
  async #opened(args: object, request: 'launch' | 'attach'): Promise<Playback> {
    if (this.#isOpening || this.#playback) throw new UsageError('this session debugs a rollout already');
    const configuration = readConfiguration(args);
    if (this.#token !== null && configuration.token !== this.#token)
      throw new UsageError('name the token that the adapter printed as "token" in the configuration');
    this.#isOpening = true;
    try {
      const debuggee = await (request === 'launch' ? launched : attached)(configuration, {
        readKey: (name: string) => process.env[name],
        askPerson: (seat, { started }, signal) =>
          this.#person.ask(seat, seat === 'agent' || started.userTools !== undefined, signal),
        log: (text: string) => this.#narrator.print(text),
        onModel: this.#wait.onModel,
        onDomain: (domain: LoadedDomain) => {
          this.#breakpoints.domain = domain;
          this.sendEvent(new InitializedEvent());
        },
      });
      this.#playback = new Playback(debuggee, this.#breakpoints.breakpoints, configuration, {
        onStep: () => this.#narrator.tell(debuggee),
        // A client that was asked for no movement shows the stop before until it is told that one took place. VS Code
        // handles events that follow one another as one: the answer to the edit stands between this one and the stop.
        onLeave: () => this.sendEvent(new ContinuedEvent(thread, true)),
        onFork: (words) => this.#narrator.tellFork(debuggee, words),
        onStop: (stop) => this.#stopped(stop),
        onOver: () => this.sendEvent(new TerminatedEvent()),
        onFailure: (text) => this.#narrator.print(text, 'stderr'),
        awaited: () => this.#person.awaited,
      });
      if (!this.#isOver) return this.#playback;
      await this.#playback.close();
      throw new UsageError('the session ended before the rollout began');
    } finally {
      this.#isOpening = false;
    }
  }

  protected override setVariableRequest(
    response: DebugProtocol.SetVariableResponse,
    args: DebugProtocol.SetVariableArguments,
  ): void {
    void this.#answer(response, async () => {
      if (this.#inspection.references.isGone(args.variablesReference))
        throw new UsageError(`the rollout has moved since ${args.name} was shown: edit it as it stands now`);
      const variable = this.#inspection.variable(args.variablesReference, args.name);
      const body = { value: args.value };
      if (variable && variable.value === args.value) return { body };
      const edit = variable?.edit?.(args.value) ?? `${args.name} can't be edited: ${editable}`;
      if (typeof edit === 'string') throw new UsageError(edit);
      return { body, after: await this.#started().fork(edit) };
    });
  }

  protected override pauseRequest(response: DebugProtocol.PauseResponse): void {
    this.sendResponse(response);
    this.#playback?.pause();
  }

  #started(): Playback {
    if (!this.#playback) throw new UsageError('nothing has started yet');
    return this.#playback;
  }

  protected override evaluateRequest(
    response: DebugProtocol.EvaluateResponse,
    args: DebugProtocol.EvaluateArguments,
  ): void {
    const text = (args.expression ?? '').trim();
    const isConsole = args.context === 'repl';
    const isCommand = isConsole && (text.startsWith('/') || this.#person.awaited !== null);
    const make = () =>
      isCommand
        ? this.#command(parseCommand(text), args.frameId)
        : { body: this.#inspection.evaluated(this.#debuggee, args.frameId, text) };
    void this.#answer(response, make, isConsole);
  }

  /** A command of the Debug Console, or the words of a person whose turn it is. */
  async #command(command: Command, frame?: number): Promise<Answer<DebugProtocol.EvaluateResponse['body']>> {
    const { steps = [], cursor = 0 } = this.#debuggee ?? {};
    switch (command.type) {
      case 'help':
        return said(help);
      case 'why':
        return said(explanationOf(steps.slice(0, cursor + 1)));
      case 'request':
        return said(this.#inspection.request(this.#debuggee, frame, command.name).body);
      case 'unknown':
        throw new UsageError(`there is no command ${command.name}. ${help}`);
      case 'leave':
        return { ...said(''), after: this.#person.leave() };
      case 'turn':
        return { ...said(''), after: await this.#turn(command.text) };
    }
  }

  /** A typed turn goes to the seat that waits for it; without one it takes over the seat that is next, in a fork. */
  async #turn(text: string): Promise<() => void> {
    if (text === '') throw new UsageError('type what is said: /say TEXT');
    if (this.#person.awaited) return this.#person.say(text);
    const turn = parseTurn(text);
    if (typeof turn === 'string') throw new UsageError(turn);
    return this.#started().fork({ type: 'turn', ...turn });
  }

  protected override terminateRequest(response: DebugProtocol.TerminateResponse): void {
    void this.#close().then(() => {
      this.sendEvent(new TerminatedEvent());
      this.sendResponse(response);
    });
  }

  protected override disconnectRequest(
    response: DebugProtocol.DisconnectResponse,
    args: DebugProtocol.DisconnectArguments,
  ): void {
    void this.#close().then(() => super.disconnectRequest(response, args));
  }

  /** Answers a request with what `make` gives; what it throws is said to the person. */
  async #answer<Response extends DebugProtocol.Response>(
    response: Response,
    make: () => Answer<Response['body']> | Promise<Answer<Response['body']>>,
    showUser = true,
  ): Promise<void> {
    try {
      const { body, after } = await make();
      response.body = body;
      this.sendResponse(response);
      after?.();
    } catch (error) {
      this.#refuse(response, messageOf(error), showUser);
    }
  }

  #refuse(response: DebugProtocol.Response, message: string, showUser = true): void {
    this.sendErrorResponse(response, { id: 1, format: escaped(message), showUser });
  }

  async #close(): Promise<void> {
    this.#isOver = true;
    this.#wait.end();
    await this.#playback?.close().catch((error: unknown) => this.#narrator.print(messageOf(error), 'stderr'));
  }

  #stopped({ reason, text, ids = [] }: Stop): void {
    this.#inspection.references.forget();
    const event: DebugProtocol.StoppedEvent = new StoppedEvent(reason, thread);
    event.body = {
      reason: reason === 'end' ? 'exit' : reason,
      description: text,
      text,
      threadId: thread,
      allThreadsStopped: true,
      ...(ids.length > 0 ? { hitBreakpointIds: [...ids] } : {}),
    };
    this.sendEvent(event);
    if (reason === 'fork' && this.#client.supportsInvalidatedEvent) this.sendEvent(new InvalidatedEvent(['all']));
  }
}

function said(result: string): Answer<DebugProtocol.EvaluateResponse['body']> {
  return { body: { result, variablesReference: 0 } };
}

/** Braces are variables in a message's format. */
function escaped(message: string): string {
  return message.replaceAll('{', '(').replaceAll('}', ')');
}
