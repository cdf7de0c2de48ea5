import {
  BreakpointEvent,
  ContinuedEvent,
  Event,
  InitializedEvent,
  InvalidatedEvent,
  StoppedEvent,
  TerminatedEvent,
  ThreadEvent,
} from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import type { ModelNotice } from '../../engine/shell/externalSeats.ts';
import { messageOf } from '../../engine/shell/files/fault.ts';
import { toolsOf } from '../../engine/shell/models/typedTurn.ts';
import { isSameToken } from '../../engine/shell/processes/loopback.ts';
import { canInspectSafely } from '../../engine/shell/workers/workerChild.ts';
import { UsageError } from '../terminal/io.ts';
import { modelWait } from '../terminal/modelWait.ts';
import { type Answer, AnsweringSession, linkTo, placeOf, withArguments } from './answeringSession.ts';
import { BreakpointRequests, type ClientLines } from './breakpoints/breakpointRequests.ts';
import { unseenReads } from './breakpoints/unseenReads.ts';
import { capabilities } from './capabilities.ts';
import { parseCommand } from './console.ts';
import { performed, type Started, said } from './consoleCommands.ts';
import { controlRequests } from './controlRequests.ts';
import { HumanSeat, userBrief } from './humanSeat.ts';
import { type ChildConfiguration, InsideTools } from './insideTools.ts';
import { Inspection, thread } from './inspection.ts';
import { Narrator } from './narrator.ts';
import { CheckpointSeat } from './playback/checkpointSeat.ts';
import { Forks } from './playback/forks.ts';
import { attached, type Host, launched } from './playback/opening.ts';
import { Playback, type Stop, type Then } from './playback/playback.ts';
import { queryRequests } from './queryRequests.ts';
import { type Configuration, readConfiguration } from './rollout/configuration.ts';
import type { Debuggee } from './rollout/debuggee.ts';
import type { Edit } from './rollout/edit.ts';
import { type Engine, ownEngine } from './rollout/engine.ts';
import { assignmentIn } from './variables/assignment.ts';

export type SessionOptions = {
  /** The token that a client must name to launch or attach; null if no one else can reach this session. */
  readonly token?: string | null;
  readonly engine?: Engine;
  /** Receives the error that refused a launch or attach request. A client receives only its words. */
  readonly onRefused?: (error: unknown) => void;
};

/** The protocol's names of the reasons to stop, where they differ. */
const reasons: Readonly<Partial<Record<Stop['reason'], string>>> = { end: 'exit', sample: 'restart' };

/** The time a client has to answer that it has started a session, in milliseconds. */
const startMs = 60_000;

/** Requests that the base class hands to a method of their own below. */
const handed: ReadonlySet<string> = new Set(
  'initialize launch attach configurationDone disconnect terminate pause evaluate'.split(' '),
);

/** Requests of a client that is on its way to show where the rollout stopped. */
const towardsTheStop: ReadonlySet<string> = new Set('threads stackTrace breakpointLocations source'.split(' '));

/** Translates between the Debug Adapter Protocol (1.71) and a rollout that is played; decides nothing about rollouts. */
export class RehearsalSession extends AnsweringSession {
  #client: DebugProtocol.InitializeRequestArguments = { adapterID: 'rehearsal' };
  #playback: Playback | null = null;
  #isOpening = false;
  #isOver = false;
  #isTrusted = false;
  readonly #token: string | null;
  readonly #engine: Engine;
  readonly #onRefused: (error: unknown) => void;
  readonly #configured = Promise.withResolvers<void>();
  readonly #lines: ClientLines = {
    toClient: (line) => this.convertDebuggerLineToClient(line),
    fromClient: (line) => this.convertClientLineToDebugger(line),
  };
  #forks: Forks | null = null;
  readonly #breakpoints = new BreakpointRequests(this.#lines, (breakpoint) =>
    this.sendEvent(new BreakpointEvent('changed', breakpoint)),
  );
  readonly #inspection = new Inspection(this.#lines);
  readonly #narrator = new Narrator((event) => this.sendEvent(event), this.#inspection.references, this.#lines);
  #hasToldGoal = false;
  readonly #human = new HumanSeat((text) => this.#narrator.print(text));
  readonly #checkpoint = new CheckpointSeat((text) => this.#narrator.print(text));
  readonly #wait = modelWait((text) => this.#narrator.print(text));
  readonly #insideTools = new InsideTools({
    startDebugging: (configuration) => this.#startDebugging(configuration),
    hasBreakpoints: () => this.#breakpoints.hasInside,
    print: (text) => this.#narrator.print(text),
  });

  /** The parts of the session that commands of the Debug Console use. */
  readonly #commanded = {
    started: () => this.#started(),
    inspection: this.#inspection,
    human: this.#human,
    narrator: this.#narrator,
    moved: (move: (playback: Playback) => Then | Promise<Then>, movement: string) => this.#moved(move, movement),
  };

  /** Whether the client has named the token. */
  get isTrusted(): boolean {
    return this.#isTrusted;
  }

  constructor({ token = null, engine = ownEngine, onRefused = () => undefined }: SessionOptions = {}) {
    super();
    this.#token = token;
    this.#engine = engine;
    this.#onRefused = onRefused;
    this.setDebuggerLinesStartAt1(true);
    this.setDebuggerColumnsStartAt1(true);
    // The base class ends the process over a message that is not JSON and reports it, except to a client that is gone.
    this.removeAllListeners('error');
    this.on('error', ({ body }: { readonly body?: unknown }) => {
      const text = String(body);
      if (!/^(?:in|out)Stream error/.test(text)) this.#narrator.print(text, 'stderr');
      else if (!this.#isOver) this.shutdown();
    });
  }

  /** Requests that give something another value, which makes a fork. */
  readonly #edits: ReadonlyMap<string, (args: never) => Edit | null> = new Map<string, (args: never) => Edit | null>([
    ['setVariable', (args: DebugProtocol.SetVariableArguments) => this.#inspection.variableEdit(args)],
    [
      'setExpression',
      (args: DebugProtocol.SetExpressionArguments) => this.#inspection.expressionEdit(this.#debuggee, args),
    ],
  ]);

  get #queried() {
    return {
      breakpoints: this.#breakpoints,
      inspection: this.#inspection,
      playback: this.#playback,
      forks: this.#forks,
    };
  }

  get #debuggee(): Debuggee | undefined {
    return this.#playback?.debuggee;
  }

  override shutdown(): void {
    void this.#close().finally(() => super.shutdown());
  }

  protected override dispatchRequest(request: DebugProtocol.Request): void {
    const { command, seq } = request;
    if (!towardsTheStop.has(command)) this.#narrator.release();
    if (handed.has(command)) {
      // The protocol's default, without which the base class refuses a client.
      const format = command === 'initialize' ? { pathFormat: 'path' } : {};
      super.dispatchRequest({ ...request, arguments: { ...format, ...request.arguments } } as typeof request);
      return;
    }
    const response = { seq: 0, type: 'response', request_seq: seq, command, success: true };
    const query = queryRequests.get(command);
    const edit = this.#edits.get(command);
    const control = controlRequests.get(command);
    const args = request.arguments ?? {};
    if (query)
      void this.answer(response, async () => ({
        body: await withArguments(command, () => query(this.#queried, args as never)),
      }));
    else if (edit) void this.#answerEdit(response, edit, args);
    else if (control)
      void this.answer(
        response,
        async () => {
          const movement = args.targetId === undefined ? command : 'stepInTarget';
          const after = await this.#moved(
            (playback) => control(playback, args, this.#inspection.destinations),
            movement,
          );
          return { body: { allThreadsContinued: true }, after };
        },
        // A key that is held sends more steps than the rollout can make, and a notice of each would be in the way.
        !this.#playback?.isRunning,
      );
    else this.refuse(response, `Rehearsal does not support the request "${command}"`, false);
  }

  /** A move that comes while the rollout runs is refused. */
  async #moved(move: (playback: Playback) => Then | Promise<Then>, movement: string): Promise<Then> {
    const then = await this.#started().playback.claim(move);
    this.#insideTools.noteControl(movement);
    return then;
  }

  /** An edit makes a fork; one that changes nothing makes none. */
  async #edited<Body>(edit: Edit | null, body: Body, onEdited?: () => void): Promise<Answer<Body>> {
    if (edit === null) return { body };
    const fork = async (playback: Playback) => {
      const then = await playback.fork(edit);
      onEdited?.();
      return then;
    };
    return { body, after: await this.#started().playback.claim(fork) };
  }

  /** Answers an edit. A refused edit in an editor tab is reported when it is saved and needs no second notice. */
  #answerEdit(
    response: DebugProtocol.Response,
    edit: (args: never) => Edit | null,
    args: { readonly variablesReference?: number; readonly name?: string; readonly value?: string },
  ): Promise<void> {
    const { variablesReference = 0, name = '', value } = args;
    const edited = () => this.#inspection.variable(variablesReference, name)?.onEdited?.();
    const make = () =>
      this.#edited(
        withArguments(response.command, () => edit(args as never)),
        { value },
        edited,
      );
    return this.answer(response, make, !this.#inspection.isInTab(variablesReference));
  }

  protected override initializeRequest(
    response: DebugProtocol.InitializeResponse,
    args: DebugProtocol.InitializeRequestArguments,
  ): void {
    this.#client = args;
    this.#inspection.pages = args.supportsVariablePaging === true;
    this.#inspection.showsTypes = args.supportsVariableType === true;
    this.#narrator.hasColours = args.supportsANSIStyling === true;
    this.#narrator.asksAtOnce = args.clientID === 'vscode';
    this.#inspection.drawsBox = args.clientID === 'vscode';
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
      this.#onRefused(error);
      const inDialog = error instanceof UsageError ? error.inDialog : null;
      const at = placeOf(error);
      const link = at && this.#client.clientID === 'vscode' ? linkTo(at) : undefined;
      this.refuse(response, inDialog ?? messageOf(error), true, link);
      return;
    }
    this.sendResponse(response);
    this.sendEvent(new ThreadEvent('started', thread));
    await this.#configured.promise;
    await this.perform(() => playback.begin(request));
  }

  /** Reads the configuration and opens what it names. Throws what a person can read. */
  async #opened(args: object, request: 'launch' | 'attach'): Promise<Playback> {
    if (this.#isOpening || this.#playback) throw new UsageError('this session already debugs a rollout');
    const configuration = readConfiguration(args);
    if (this.#token !== null && !isSameToken(configuration.token ?? '', this.#token))
      throw new UsageError('name the token that the adapter printed as "token" in the configuration');
    this.#isTrusted = true;
    this.#isOpening = true;
    try {
      const debuggee = await (request === 'launch' ? launched : attached)(configuration, this.#host(configuration));
      this.#playback = this.#played(debuggee, configuration);
      this.#forks = new Forks(this.#playback, {
        onPlaces: (places) => this.#breakpoints.open(places),
        onChanged: (news, all) => {
          this.#narrator.tellChanged(news);
          this.sendEvent(new Event('rehearsal/filesChanged', { files: all }));
        },
      });
      if (!this.#isOver) return this.#playback;
      await this.#playback.close();
      throw new UsageError('the session ended before the rollout began');
    } finally {
      this.#isOpening = false;
    }
  }

  /** Returns what a rollout that is opened uses of this session. */
  #host(configuration: Configuration): Host {
    const inspectable = this.#stepsInside(configuration);
    this.#breakpoints.stepsInside = inspectable && !configuration.noDebug;
    return {
      readKey: (name) => this.#checkpoint.environment[name],
      checkpoint: this.#checkpoint,
      askPerson: (seat, view, signal) => {
        if (seat === 'user') this.#tellGoal();
        const turn = this.#human.ask(seat, toolsOf(seat, view), signal);
        if (this.#human.awaited) this.#tellAwaited(seat);
        return turn;
      },
      log: (text) => this.#narrator.print(text),
      onModel: (notice) => this.#heard(notice),
      inspectable,
      engine: this.#engine,
      onDomain: (places) => {
        this.#breakpoints.open(places);
        this.sendEvent(new InitializedEvent());
      },
    };
  }

  /** Connects a rollout to this session: its breakpoints, and the events for the client. */
  #played(debuggee: Debuggee, configuration: Configuration): Playback {
    if (this.#breakpoints.stepsInside) debuggee.beforeStep = (last) => this.#insideTools.before(debuggee, last);
    this.#breakpoints.breakpoints.readsAt = (step) => debuggee.readsAt(step);
    this.#breakpoints.unseenReads = () => unseenReads(debuggee);
    return new Playback(debuggee, this.#breakpoints.breakpoints, configuration, {
      onStep: () => {
        this.#narrator.tell(debuggee);
        this.#insideTools.after(debuggee);
      },
      onLog: (text) => this.#narrator.print(text),
      // A client that was asked for no movement shows the stop before until it learns that one took place. VS Code
      // handles events that follow one another as one: the answer to the edit is between this one and the stop.
      onLeave: () => this.sendEvent(new ContinuedEvent(thread, true)),
      onFork: (words) => {
        this.#inspection.forgetAll();
        this.#narrator.tellFork(debuggee, words);
        this.sendEvent(new Event('rehearsal/forked', { path: debuggee.recording }));
      },
      onStop: (stop) => this.#stopped(stop),
      onOver: () => {
        this.#narrator.release();
        this.sendEvent(new TerminatedEvent());
      },
      onFailure: (text) => this.#narrator.print(text, 'stderr'),
      awaited: () => this.#human.awaited,
      onAwaited: (seat) => this.#tellAwaited(seat),
    });
  }

  /** Reports whether the client has a JavaScript debugger that may attach to the worker. */
  #stepsInside({ debugTools }: Configuration): boolean {
    return this.#client.supportsStartDebuggingRequest === true && (debugTools ?? canInspectSafely());
  }

  #startDebugging(configuration: ChildConfiguration): Promise<true | string> {
    const { promise, resolve } = Promise.withResolvers<true | string>();
    this.sendRequest('startDebugging', { request: 'attach', configuration }, startMs, ({ success, message }) =>
      resolve(success ? true : `the editor started no JavaScript debugger${message ? ` (${message})` : ''}`),
    );
    return promise;
  }

  protected override pauseRequest(response: DebugProtocol.PauseResponse): void {
    this.sendResponse(response);
    this.#playback?.pause();
  }

  protected override tell(text: string): void {
    this.#narrator.print(text, 'stderr');
  }

  #started(): Started {
    if (!this.#playback || !this.#forks) throw new UsageError('nothing has started yet');
    return { playback: this.#playback, forks: this.#forks };
  }

  protected override evaluateRequest(
    response: DebugProtocol.EvaluateResponse,
    args: DebugProtocol.EvaluateArguments,
  ): void {
    const text = (args.expression ?? '').trim();
    const isConsole = args.context === 'repl';
    const isCommand = isConsole && (text.startsWith('/') || this.#human.awaited !== null);
    const given = isConsole ? assignmentIn(text) : null;
    const make = () => {
      if (isCommand) return performed(parseCommand(text), this.#commanded, args.frameId);
      if (!given && isConsole) return { body: this.#valueOfTyped(args.frameId, text) };
      const inspect = args.context === 'hover' ? 'hovered' : 'evaluated';
      if (!given) return { body: this.#inspection[inspect](this.#debuggee, args.frameId, text) };
      const edit = this.#inspection.expressionEdit(this.#debuggee, { ...args, ...given });
      return this.#edited(edit, said(given.value).body);
    };
    void this.answer(response, make, isConsole);
  }

  /** Returns the value of what was typed. Where a person plays, it may be a turn that comes too early. */
  #valueOfTyped(frame: number | undefined, text: string): DebugProtocol.EvaluateResponse['body'] {
    try {
      return this.#inspection.evaluated(this.#debuggee, frame, text);
    } catch (error) {
      if (!this.#human.wasAsked || !(error instanceof UsageError)) throw error;
      const hint =
        'it is not your turn. If the rollout is paused, continue it (F5), and type your turn when it is asked for';
      throw new UsageError(`${hint}. As an expression: ${error.message}`);
    }
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

  /**
   * Reports how long a model has been waited for, and sends the usage of each answer to the client, which may show the
   * sum.
   */
  #heard(notice: ModelNotice): void {
    this.#wait.onModel(notice);
    if (notice.type !== 'answered' || !notice.usage) return;
    const { input, output } = notice.usage;
    this.sendEvent(new Event('rehearsal/modelAnswered', { input, output, money: null }));
  }

  /** Tells the person who plays the user what to achieve, and what the user knows, once. */
  #tellGoal(): void {
    const user = this.#playback?.debuggee.task.user;
    if (user === undefined || this.#hasToldGoal) return;
    this.#hasToldGoal = true;
    this.#narrator.print(userBrief(user));
  }

  /** The rollout waits for the turn of a person, so it does not stop before that is typed. */
  #tellAwaited(seat: 'agent' | 'user'): void {
    this.sendEvent(new Event('rehearsal/turnAwaited', { seat }));
  }

  async #close(): Promise<void> {
    this.#isOver = true;
    this.#wait.end();
    await this.#playback?.close().catch((error: unknown) => this.#narrator.print(messageOf(error), 'stderr'));
    await this.#checkpoint.close();
    this.#narrator.release();
  }

  #stopped({ reason, text, ids = [] }: Stop): void {
    this.#inspection.references.forget();
    const event: DebugProtocol.StoppedEvent = new StoppedEvent(reason, thread);
    event.body = {
      reason: reasons[reason] ?? reason,
      description: text,
      text,
      threadId: thread,
      allThreadsStopped: true,
      ...(ids.length > 0 ? { hitBreakpointIds: [...ids] } : {}),
    };
    this.sendEvent(event);
    if (reason === 'end')
      this.#narrator.print(
        'Continue ends the session. To try something else, step back and edit a message or a value.',
      );
    this.#narrator.stopped();
    if ((reason === 'fork' || reason === 'sample') && this.#client.supportsInvalidatedEvent)
      this.sendEvent(new InvalidatedEvent(['all']));
    this.#forks?.edited();
  }
}
