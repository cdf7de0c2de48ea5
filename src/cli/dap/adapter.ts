import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import {
  DebugSession,
  InitializedEvent,
  InvalidatedEvent,
  OutputEvent,
  StoppedEvent,
  TerminatedEvent,
  ThreadEvent,
} from '@vscode/debugadapter';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { openRun, receiptOf, rolloutName } from '../../engine/shell/batch.ts';
import { signingKey } from '../../engine/shell/ledger.ts';
import type { StaticDomain } from '../../engine/shell/load/loadDomain.ts';
import { parseSeat, type SeatSpec } from '../../engine/shell/seats/seatSpec.ts';
import { UsageError } from '../io.ts';
import { domainBeside, openDomainAt, taskNamed } from '../rolloutOptions.ts';
import { lineText, transcriptOf } from '../transcript.ts';
import { exceptionAt, filters, lines, parseTarget, place, stopsAt, type Target } from './breakpoints.ts';
import { Debuggee, type DebugStep } from './debuggee.ts';
import { explanationOf } from './explanation.ts';
import { evaluate, roots } from './expression.ts';
import { type Frame, framesAt } from './frames.ts';
import { jsonChildren, scopesAt, shortened, type Variable } from './variables.ts';

type Arguments = {
  readonly domain?: string;
  readonly task?: string;
  readonly recording?: string;
  readonly agent?: string;
  readonly user?: string;
  readonly forkAgent?: string;
  readonly seed?: string;
  readonly trial?: number;
  readonly basis?: 'evaluate' | 'train';
  readonly stopOnEntry?: boolean;
  readonly noStopAtEnd?: boolean;
  readonly noDebug?: boolean;
  /** Folder for runs (`.rehearsal/runs` of the workspace). */
  readonly runs?: string;
};

type Stop = {
  readonly reason: 'entry' | 'step' | 'breakpoint' | 'exception' | 'pause' | 'end';
  readonly text: string;
  readonly focus?: string;
};

const thread = 1;
const help = `Paths: db.orders.W1.status, user, messages[0].content, turn, rules, event, reward
/why       why the reward is what it is, or would not be 1 so far
/say TEXT  your turn, when you hold a seat (plain text does the same)
/help      this text
`;

/** Translates between the Debug Adapter Protocol (1.71) and a debuggee; decides nothing about rollouts. */
export class RehearsalSession extends DebugSession {
  #client: DebugProtocol.InitializeRequestArguments = { adapterID: 'rehearsal' };
  #domain: StaticDomain | null = null;
  #debuggee: Debuggee | null = null;
  readonly #configured = Promise.withResolvers<void>();
  readonly #bySource = new Map<string, readonly Target[]>();
  #functions: readonly Target[] = [];
  #filters: ReadonlySet<string> = new Set();
  #stop: Stop = { reason: 'entry', text: '' };
  #runs = 0;
  #pauseRequested = false;
  #stoppedAtEnd = false;
  #noStopAtEnd = false;
  #printed = 0;
  #frames: readonly Frame[] = [];
  #references = new Map<number, readonly Variable[]>();
  #person: ((text: string) => void) | null = null;

  protected override initializeRequest(
    response: DebugProtocol.InitializeResponse,
    args: DebugProtocol.InitializeRequestArguments,
  ): void {
    this.#client = args;
    response.body = {
      supportsConfigurationDoneRequest: true,
      supportsStepBack: true,
      supportsSetVariable: true,
      supportsFunctionBreakpoints: true,
      supportsBreakpointLocationsRequest: true,
      supportsEvaluateForHovers: true,
      supportsCompletionsRequest: true,
      supportsTerminateRequest: true,
      supportsANSIStyling: true,
      exceptionBreakpointFilters: filters.map((each) => ({ ...each, default: false })),
    };
    this.sendResponse(response);
  }

  protected override configurationDoneRequest(response: DebugProtocol.ConfigurationDoneResponse): void {
    this.sendResponse(response);
    this.#configured.resolve();
  }

  protected override launchRequest(
    response: DebugProtocol.LaunchResponse,
    args: DebugProtocol.LaunchRequestArguments & Arguments,
  ): void {
    void this.#begin(response, args, async () => {
      if (!args.domain) throw new UsageError('the launch configuration names no domain (the folder with domain.yaml)');
      const domain = openDomainAt(resolve(args.domain));
      const task = taskNamed(domain, args.task);
      const agent = seat(args.agent ?? task.agent ?? domain.file.agent, 'agent');
      const user = seat(args.user ?? domain.file.user, 'user');
      const debuggee = this.#open(domain, agent, user, args);
      const { seed = '1', trial = 0, basis = 'evaluate' } = args;
      const folder = join(args.runs ?? join(domain.folder, '.rehearsal', 'runs'), `${stamp()}-${task.id}`);
      const receive = openRun(folder, domain, {
        seed,
        trials: 1,
        basis,
        agent,
        user,
        tasks: [task],
        key: signingKey(),
      });
      debuggee.onClosed = (recording, closed) => {
        if (closed.endReason !== 'cancelled')
          receive(
            receiptOf(
              domain.domain.policy.hash,
              { seed, basis },
              basename(recording, '.traj.jsonl'),
              task,
              trial,
              closed,
            ),
          );
      };
      await debuggee.launch({
        task,
        seed,
        trial,
        basis,
        recording: join(folder, `${rolloutName(task, trial)}.traj.jsonl`),
      });
      return debuggee;
    });
  }

  protected override attachRequest(
    response: DebugProtocol.AttachResponse,
    args: DebugProtocol.AttachRequestArguments & Arguments,
  ): void {
    void this.#begin(response, args, async () => {
      if (!args.recording)
        throw new UsageError('the attach configuration names no recording (a file that ends in .traj.jsonl)');
      const recording = resolve(args.recording);
      if (!existsSync(recording)) throw new UsageError(`${recording}: there is no such recording`);
      const folder = args.domain ?? domainBeside(recording);
      if (!folder)
        throw new UsageError(
          `${recording}: which domain was it recorded in? Name its folder as "domain" in the configuration`,
        );
      const debuggee = this.#open(
        openDomainAt(resolve(folder)),
        { type: 'gold' },
        seat(args.user ?? 'agenda', 'user'),
        args,
      );
      debuggee.attach(recording);
      return debuggee;
    });
  }

  #open(domain: StaticDomain, agent: SeatSpec, user: SeatSpec, args: Arguments): Debuggee {
    this.#domain = domain;
    this.sendEvent(new InitializedEvent());
    const fork = args.forkAgent ?? (agent.type === 'scripted' ? 'gold' : (args.agent ?? 'gold'));
    return new Debuggee({
      domain,
      agent,
      user,
      forkAgent: seat(fork, 'agent'),
      readKey: (name) => process.env[name],
      askPerson: (which, _view, signal) => this.#askPerson(which, signal),
      log: (text) => this.#print(`${text}\n`, 'console'),
    });
  }

  async #begin(response: DebugProtocol.Response, args: Arguments, open: () => Promise<Debuggee>): Promise<void> {
    this.#noStopAtEnd = args.noStopAtEnd === true || args.noDebug === true;
    try {
      this.#debuggee = await open();
    } catch (error) {
      this.sendErrorResponse(response, { id: 1, format: escaped(messageOf(error)), showUser: true });
      return;
    }
    this.sendResponse(response);
    this.sendEvent(new ThreadEvent('started', thread));
    await this.#configured.promise;
    if (!this.#debuggee.current) await this.#debuggee.forward();
    this.#transcribe();
    const found = args.noDebug ? null : this.#breakpointStop();
    if (found) this.#stopped(found);
    else if (!args.noDebug && (args.stopOnEntry || args.recording))
      this.#stopped({
        reason: 'entry',
        text: args.recording ? 'the start of the recording' : 'before the first message',
      });
    else await this.#run(() => null);
  }

  protected override setBreakPointsRequest(
    response: DebugProtocol.SetBreakpointsResponse,
    args: DebugProtocol.SetBreakpointsArguments,
  ): void {
    const path = args.source.path ?? '';
    const placed = (args.breakpoints ?? []).map(({ line }) =>
      this.#domain ? place(this.#domain, path, line) : { line, problem: 'no domain is open' },
    );
    this.#bySource.set(
      path,
      placed.flatMap((each) => ('target' in each ? [each.target] : [])),
    );
    response.body = {
      breakpoints: placed.map(
        (each): DebugProtocol.Breakpoint =>
          'target' in each
            ? { verified: true, line: each.line }
            : { verified: false, line: each.line, message: each.problem },
      ),
    };
    this.sendResponse(response);
  }

  protected override breakpointLocationsRequest(
    response: DebugProtocol.BreakpointLocationsResponse,
    args: DebugProtocol.BreakpointLocationsArguments,
  ): void {
    const { line, endLine = line } = args;
    const all = this.#domain ? lines(this.#domain, args.source.path ?? '') : [];
    response.body = {
      breakpoints: all.filter((each) => each >= line && each <= endLine).map((each) => ({ line: each })),
    };
    this.sendResponse(response);
  }

  protected override setFunctionBreakPointsRequest(
    response: DebugProtocol.SetFunctionBreakpointsResponse,
    args: DebugProtocol.SetFunctionBreakpointsArguments,
  ): void {
    const parsed = args.breakpoints.map(({ name }) => parseTarget(name));
    this.#functions = parsed.filter((each) => typeof each !== 'string');
    response.body = {
      breakpoints: parsed.map((each) =>
        typeof each === 'string' ? { verified: false, message: each } : { verified: true },
      ),
    };
    this.sendResponse(response);
  }

  protected override setExceptionBreakPointsRequest(
    response: DebugProtocol.SetExceptionBreakpointsResponse,
    args: DebugProtocol.SetExceptionBreakpointsArguments,
  ): void {
    this.#filters = new Set(args.filters);
    response.body = { breakpoints: args.filters.map(() => ({ verified: true })) };
    this.sendResponse(response);
  }

  protected override threadsRequest(response: DebugProtocol.ThreadsResponse): void {
    const started = this.#debuggee?.steps[0]?.event;
    response.body = {
      threads: [{ id: thread, name: started?.type === 'rolloutStarted' ? started.task.id : 'rollout' }],
    };
    this.sendResponse(response);
  }

  protected override stackTraceRequest(
    response: DebugProtocol.StackTraceResponse,
    args: DebugProtocol.StackTraceArguments,
  ): void {
    const { startFrame = 0, levels = 0 } = args;
    const frames = this.#debuggee ? framesAt(this.#debuggee, this.#stop.focus) : [];
    this.#frames = frames;
    const shown = frames.slice(startFrame, levels > 0 ? startFrame + levels : undefined);
    response.body = {
      totalFrames: frames.length,
      stackFrames: shown.map(({ index, name, file, line, subtle }) => ({
        id: index,
        name,
        line,
        column: 1,
        source: { name: basename(file), path: file },
        ...(subtle ? { presentationHint: 'subtle' as const } : {}),
      })),
    };
    this.sendResponse(response);
  }

  protected override scopesRequest(response: DebugProtocol.ScopesResponse, args: DebugProtocol.ScopesArguments): void {
    const debuggee = this.#debuggee;
    const step = debuggee?.steps[this.#frames[args.frameId]?.step ?? debuggee.cursor];
    response.body = {
      scopes:
        step && debuggee
          ? scopesAt(step, debuggee.steps[step.n - 1]).map((scope) => ({
              name: scope.name,
              variablesReference: this.#refer(scope.children()),
              expensive: false,
            }))
          : [],
    };
    this.sendResponse(response);
  }

  protected override variablesRequest(
    response: DebugProtocol.VariablesResponse,
    args: DebugProtocol.VariablesArguments,
  ): void {
    const all = this.#references.get(args.variablesReference) ?? [];
    const { start = 0, count = 0 } = args;
    const page = all.slice(start, count > 0 ? start + count : undefined);
    response.body = { variables: page.map((variable) => this.#shown(variable)) };
    this.sendResponse(response);
  }

  #shown(variable: Variable): DebugProtocol.Variable {
    const { name, value, type, expression, edit, children } = variable;
    return {
      name,
      value,
      variablesReference: children ? this.#referLazily(children) : 0,
      ...(type && this.#client.supportsVariableType ? { type } : {}),
      ...(expression ? { evaluateName: expression } : {}),
      ...(edit ? {} : { presentationHint: { attributes: ['readOnly'] } }),
    };
  }

  #refer(variables: readonly Variable[]): number {
    const reference = this.#references.size + 1;
    this.#references.set(reference, variables);
    return reference;
  }

  /** Children are made when the client asks for them. */
  #referLazily(children: () => readonly Variable[]): number {
    const reference = this.#references.size + 1;
    let made: readonly Variable[] | undefined;
    const lazy = new Proxy([] as readonly Variable[], {
      get: (_target, key) => {
        made ??= children();
        const value = Reflect.get(made, key, made) as unknown;
        return typeof value === 'function' ? value.bind(made) : value;
      },
    });
    this.#references.set(reference, lazy);
    return reference;
  }

  protected override setVariableRequest(
    response: DebugProtocol.SetVariableResponse,
    args: DebugProtocol.SetVariableArguments,
  ): void {
    const variable = this.#references.get(args.variablesReference)?.find(({ name }) => name === args.name);
    const edit =
      variable?.edit?.(args.value) ??
      `${args.name} can't be edited: only messages, arguments of calls and values of the database can`;
    if (typeof edit === 'string' || !this.#debuggee) {
      this.#refuse(response, String(edit));
      return;
    }
    this.#debuggee.fork(edit).then(
      (words) => {
        response.body = { value: args.value };
        this.sendResponse(response);
        this.#forked(words);
      },
      (error: unknown) => this.#refuse(response, messageOf(error)),
    );
  }

  #forked(words: string): void {
    const debuggee = this.#debuggee;
    if (!debuggee) return;
    this.#printed = debuggee.cursor + 1;
    this.#stoppedAtEnd = false;
    this.#print(
      `--- fork: ${words}. It is recorded in ${basename(debuggee.recording)}; the recording it leaves stays as it was ---\n`,
      'console',
    );
    if (debuggee.current)
      for (const line of transcriptOf(debuggee.current.event)) this.#print(`${lineText(line, this.#colours)}\n`);
    this.#stopped({ reason: 'step', text: `fork: ${words}` });
    if (this.#client.supportsInvalidatedEvent) this.sendEvent(new InvalidatedEvent(['all']));
  }

  protected override continueRequest(response: DebugProtocol.ContinueResponse): void {
    response.body = { allThreadsContinued: true };
    this.sendResponse(response);
    void this.#run(() => null);
  }

  protected override nextRequest(response: DebugProtocol.NextResponse): void {
    this.sendResponse(response);
    void this.#run(({ event }) => (event.type === 'agentReplied' ? 'the next turn' : null));
  }

  protected override stepInRequest(response: DebugProtocol.StepInResponse): void {
    this.sendResponse(response);
    void this.#run(({ event }) => event.type);
  }

  protected override stepOutRequest(response: DebugProtocol.StepOutResponse): void {
    this.sendResponse(response);
    void this.#run(({ state }) => (state.phase.type === 'agentAwaited' || state.ended ? 'the end of the turn' : null));
  }

  protected override stepBackRequest(response: DebugProtocol.StepBackResponse): void {
    this.sendResponse(response);
    this.#debuggee?.back();
    this.#stoppedAtEnd = false;
    this.#stopped({ reason: 'step', text: 'one step back' });
  }

  protected override reverseContinueRequest(response: DebugProtocol.ReverseContinueResponse): void {
    this.sendResponse(response);
    this.#stoppedAtEnd = false;
    while (this.#debuggee?.back()) {
      const found = this.#breakpointStop();
      if (found) {
        this.#stopped(found);
        return;
      }
    }
    this.#stopped({ reason: 'entry', text: 'the start' });
  }

  protected override pauseRequest(response: DebugProtocol.PauseResponse): void {
    this.sendResponse(response);
    this.#pauseRequested = true;
  }

  protected override evaluateRequest(
    response: DebugProtocol.EvaluateResponse,
    args: DebugProtocol.EvaluateArguments,
  ): void {
    const text = args.expression.trim();
    const isConsole = args.context === 'repl';
    if (isConsole && (text.startsWith('/') || this.#person)) {
      response.body = { result: this.#command(text), variablesReference: 0 };
      this.sendResponse(response);
      return;
    }
    const debuggee = this.#debuggee;
    const step = debuggee?.steps[this.#frames[args.frameId ?? 0]?.step ?? debuggee.cursor];
    const found = step ? evaluate(text, step) : 'nothing has happened yet';
    if (typeof found === 'string') {
      this.#refuse(response, found, isConsole);
      return;
    }
    const { value } = found;
    const isTree = typeof value === 'object' && value !== null;
    response.body = {
      result: isTree ? shortened(value) : JSON.stringify(value),
      variablesReference: isTree ? this.#refer(jsonChildren(value)) : 0,
    };
    this.sendResponse(response);
  }

  #command(text: string): string {
    const [name, ...rest] = text.split(' ');
    if (name === '/help') return help;
    if (name === '/why')
      return this.#debuggee?.current ? explanationOf(this.#debuggee.current.state) : 'nothing has happened yet';
    const person = this.#person;
    if (!person)
      return name === '/say'
        ? 'nobody waits for you: a seat of yours is "human" in the launch configuration'
        : `there is no command ${name}. ${help}`;
    this.#person = null;
    person(name === '/say' ? rest.join(' ') : text);
    return '';
  }

  protected override completionsRequest(
    response: DebugProtocol.CompletionsResponse,
    args: DebugProtocol.CompletionsArguments,
  ): void {
    const typed = args.text.slice(0, args.column - 1);
    const [parent, last = ''] = /^(.*)\.([\w$]*)$/s.exec(typed)?.slice(1) ?? ['', typed];
    const step = this.#debuggee?.current;
    const found = parent && step ? evaluate(parent, step) : null;
    const names =
      found && typeof found !== 'string' && typeof found.value === 'object' && found.value !== null
        ? Object.keys(found.value)
        : [...roots, '/why', '/say', '/help'];
    response.body = {
      targets: names
        .filter((name) => name.startsWith(last))
        .slice(0, 200)
        .map((label) => ({ label, start: typed.length - last.length, length: last.length })),
    };
    this.sendResponse(response);
  }

  protected override terminateRequest(response: DebugProtocol.TerminateResponse): void {
    void this.#end().then(() => this.sendResponse(response));
  }

  protected override disconnectRequest(
    response: DebugProtocol.DisconnectResponse,
    args: DebugProtocol.DisconnectArguments,
  ): void {
    void this.#debuggee
      ?.close()
      .catch(() => undefined)
      .then(() => super.disconnectRequest(response, args));
    if (!this.#debuggee) super.disconnectRequest(response, args);
  }

  /** Goes forward until a breakpoint, a pause, the end, or where `until` says; one run at a time. */
  async #run(until: (step: DebugStep) => string | null): Promise<void> {
    const debuggee = this.#debuggee;
    if (!debuggee) return;
    const run = ++this.#runs;
    this.#pauseRequested = false;
    while (await debuggee.forward()) {
      if (run !== this.#runs) return;
      this.#transcribe();
      const found = this.#noStopAtEnd && !this.#hasTargets ? null : this.#breakpointStop();
      const { current } = debuggee;
      const there = current ? until(current) : null;
      if (found) {
        this.#stopped(found);
        return;
      }
      if (this.#pauseRequested) {
        this.#stopped({ reason: 'pause', text: 'paused' });
        return;
      }
      if (there) {
        this.#stopped({ reason: 'step', text: there });
        return;
      }
    }
    if (run !== this.#runs) return;
    await this.#atEnd();
  }

  get #hasTargets(): boolean {
    return (
      this.#filters.size > 0 ||
      this.#functions.length > 0 ||
      [...this.#bySource.values()].some((targets) => targets.length > 0)
    );
  }

  /** Stops once at the end, so that one can step back from it; going on from there ends the session. */
  async #atEnd(): Promise<void> {
    const state = this.#debuggee?.current?.state;
    if (!this.#stoppedAtEnd && state) this.#print(`\n${explanationOf(state)}\n`, 'console');
    if (this.#noStopAtEnd || this.#stoppedAtEnd) return this.#end();
    this.#stoppedAtEnd = true;
    this.#stopped({
      reason: 'end',
      text: state?.reward
        ? `reward ${state.reward.value ?? 'none'}: ${state.reward.reason}`
        : 'the end of the recording',
    });
  }

  async #end(): Promise<void> {
    await this.#debuggee?.close();
    this.sendEvent(new TerminatedEvent());
  }

  #breakpointStop(): Stop | null {
    const step = this.#debuggee?.current;
    if (!step) return null;
    const broken = exceptionAt(step, this.#filters);
    if (broken) return { reason: 'exception', text: broken };
    const target = [...this.#bySource.values(), this.#functions].flat().find((each) => stopsAt(step, each));
    if (!target) return null;
    if (target.type === 'rule' && step.event.type === 'rulesChecked') {
      const verdict = step.event.verdicts.find(({ rule }) => rule === target.id);
      return {
        reason: 'breakpoint',
        focus: target.id,
        text: `rule ${target.id} ${verdict?.verdict}: ${verdict?.reason}`,
      };
    }
    return {
      reason: 'breakpoint',
      text:
        target.type === 'tool'
          ? `tool ${target.name} is called`
          : target.type === 'task'
            ? `task ${target.id} begins`
            : step.event.type,
    };
  }

  #stopped(stop: Stop): void {
    this.#stop = stop;
    this.#references = new Map();
    this.#frames = [];
    const event: DebugProtocol.StoppedEvent = new StoppedEvent(stop.reason, thread);
    event.body = {
      reason: stop.reason === 'end' ? 'exit' : stop.reason,
      description: stop.text,
      text: stop.text,
      threadId: thread,
      allThreadsStopped: true,
    };
    this.sendEvent(event);
  }

  /** Prints what has not been printed; a step that is visited again is not said again. */
  #transcribe(): void {
    const debuggee = this.#debuggee;
    if (!debuggee) return;
    for (; this.#printed <= debuggee.cursor; this.#printed += 1) {
      const step = debuggee.steps[this.#printed];
      if (step) for (const line of transcriptOf(step.event)) this.#print(`${lineText(line, this.#colours)}\n`);
    }
  }

  get #colours(): boolean {
    return this.#client.supportsANSIStyling === true;
  }

  #print(text: string, category: 'stdout' | 'console' = 'stdout'): void {
    this.sendEvent(new OutputEvent(text, category));
  }

  #askPerson(which: 'agent' | 'user', signal: AbortSignal): Promise<string> {
    this.#print(
      `your turn as the ${which}: type here what you say${which === 'user' ? ' (/stop ends the conversation)' : ''}\n`,
      'console',
    );
    return new Promise((resolve, reject) => {
      this.#person = resolve;
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }

  #refuse(response: DebugProtocol.Response, message: string, showUser = true): void {
    this.sendErrorResponse(response, { id: 2, format: escaped(message), showUser });
  }
}

function seat(text: string, which: 'agent' | 'user'): SeatSpec {
  const parsed = parseSeat(text, which);
  if (typeof parsed === 'string') throw new UsageError(parsed);
  return parsed;
}

/** Sortable name of a run. */
function stamp(): string {
  return new Date().toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
}

/** Braces are variables in a message's format. */
function escaped(message: string): string {
  return message.replaceAll('{', '(').replaceAll('}', ')');
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
