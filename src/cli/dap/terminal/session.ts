import { basename, relative } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { terminalText } from '../../../engine/core/text/terminalText.ts';
import { didYouMean } from '../../../engine/shell/source/nearest.ts';
import { type Completer, hasColours, type Io, UsageError } from '../../terminal/io.ts';
import { shellWord } from '../../terminal/shellWord.ts';
import type { SessionOptions } from '../adapter.ts';
import { changedScope } from '../variables/scopes.ts';
import { TerminalBreakpoints } from './breakpoints.ts';
import { completeLine, performLine } from './commands.ts';
import { evaluated, resultOf, variablesIn } from './edit.ts';
import { InProcessClient } from './inProcessClient.ts';

/** A line that was typed or read, and its place in a script. */
export type TypedLine = { readonly text: string; readonly at?: string };

export type TerminalOptions = Pick<SessionOptions, 'engine'> & {
  /** The launch or attach configuration. */
  readonly configuration: object;
  readonly request: 'launch' | 'attach';
  /** Whether everything is printed as lines of JSON. */
  readonly json: boolean;
  /** Returns the next line, and null at the end of the input. */
  readonly nextLine: (prompt: string, complete: Completer) => Promise<TypedLine | null>;
};

/** The kinds of output, which are values of `type` in JSON lines. */
type Printed = 'command' | 'output' | 'answer' | 'stop' | 'end';

/** The end of a movement: a stop, the end of the session, or a person's turn. */
type Halt =
  | { readonly type: 'stopped'; readonly reason: string; readonly text: string }
  | { readonly type: 'terminated' }
  | { readonly type: 'awaited'; readonly seat: string };

/** Reasons to stop that only repeat the command that led there. */
const plainReasons: ReadonlySet<string> = new Set(['step', 'goto', 'restart']);

/** Events at which the call that a message makes is not printed yet. */
const beforeCall: ReadonlySet<string> = new Set(['"agentReplied"', '"userReplied"', '"rulesChecked"']);

/** A debug session in a terminal: a client of the debug adapter that reads commands and prints what an editor shows. */
export class TerminalSession {
  readonly client: InProcessClient;
  readonly breakpoints: TerminalBreakpoints;
  readonly #io: Io;
  readonly #options: TerminalOptions;
  #halted = Promise.withResolvers<Halt>();
  #awaited: string | null = null;
  #hasLeft = false;
  #isOver = false;
  /** Whether the session has shown what can be typed in the turn of a seat. */
  #hasPlayed = false;
  /** The recordings at which the session stopped. */
  readonly #left = new Set<string>();
  /** Whether a place is printed behind each line: a chain of evidence has one for what it is about. */
  #showsPlaces = false;
  /** The error that refused the session. It has more than its message: a question to the person, or a place in a file. */
  #refused: unknown;
  readonly #initialized = Promise.withResolvers<void>();

  constructor(io: Io, options: TerminalOptions) {
    this.#io = io;
    this.#options = options;
    const onRefused = (error: unknown) => {
      this.#refused = error;
    };
    this.client = new InProcessClient((event) => this.#received(event), { ...options, onRefused });
    this.breakpoints = new TerminalBreakpoints(this.client);
  }

  /**
   * Plays the session until its end, the end of the input, or Ctrl+C. Throws what refuses the session, and a
   * `UsageError` for the first line of a script that fails.
   */
  async play(): Promise<void> {
    const { signal } = this.#io;
    const cancelled = Promise.withResolvers<never>();
    const cancel = () => cancelled.reject(new UsageError('cancelled; what was recorded is kept'));
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      await Promise.race([this.#play(), cancelled.promise]);
    } finally {
      signal.removeEventListener('abort', cancel);
      await this.client.request('disconnect');
    }
  }

  async #play(): Promise<void> {
    await this.#open();
    if (this.#io.terminal && !this.#options.json) this.say('command', 'Type help for the commands.');
    for (;;) {
      const complete: Completer = (typed) => completeLine(this, typed, this.#awaited);
      const line = await this.#options.nextLine(this.#awaited ? `${this.#awaited}> ` : 'debug> ', complete);
      if (line === null) break;
      const text = line.text.trim();
      if (text === '' || text.startsWith('#')) continue;
      if (line.at !== undefined) this.say('command', `> ${text}`);
      try {
        if (this.#isOver) throw new UsageError('the session has ended');
        await performLine(this, text, this.#awaited);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        if (line.at !== undefined) throw new UsageError(`${line.at}: ${error.message}`);
        this.#io.err(`${error.message}\n`);
      }
      if (this.#isOver && line.at === undefined) break;
    }
    const { path } = await this.#stand();
    for (const left of this.#left) if (left !== path) this.say('answer', `recording ${relative(this.#io.cwd, left)}`);
    const shown = relative(this.#io.cwd, path);
    this.say('end', `recording ${shown}`, { path });
    if (this.#io.interactive && !this.#options.json)
      this.say('command', `To open it again: npx rehearsal debug ${shellWord(shown)}`);
  }

  /** Ends the session after the command that calls it. */
  readonly quit = (): void => {
    this.#isOver = true;
  };

  /** Prints a text, or with `--json` a line of JSON. */
  readonly say = (type: Printed, text: string, more: object = {}): void => {
    const line = this.#options.json ? JSON.stringify({ type, text, ...more }) : terminalText(text, type === 'output');
    this.#io.out(`${line}\n`);
  };

  async #open(): Promise<void> {
    const { configuration, request } = this.#options;
    const { exceptionBreakpointFilters = [] } = await this.client.request<DebugProtocol.Capabilities>('initialize', {
      adapterID: 'rehearsal',
      supportsANSIStyling: hasColours(this.#io),
    });
    const opening = this.client.request(request, { ...configuration, stopOnEntry: true });
    try {
      await Promise.race([this.#initialized.promise, opening]);
      await this.breakpoints.begin(exceptionBreakpointFilters);
      await this.move(async () => {
        await this.client.request('configurationDone');
        await opening;
      });
    } catch (error) {
      throw this.#refused ?? error;
    }
  }

  /** Makes a request that moves, and prints where it ended. Pauses a rollout that waits for a person first. */
  async move(request: () => Promise<unknown>, isTurn = false): Promise<void> {
    if (this.#awaited !== null && !isTurn) {
      this.#halted = Promise.withResolvers();
      await this.client.request('pause');
      await this.#halted.promise;
    }
    this.#halted = Promise.withResolvers();
    await request();
    await this.#print(await this.#halted.promise);
  }

  /** Makes an edit, which moves into a fork. Throws a `UsageError` where the value stays the same. */
  async fork(request: () => Promise<unknown>): Promise<void> {
    this.#hasLeft = false;
    await this.move(async () => {
      await request();
      if (!this.#hasLeft) throw new UsageError('it has this value already: nothing was edited');
    });
  }

  /**
   * Types a line into the Debug Console of the session.
   * @param moves whether the session moves after it
   */
  async type(expression: string, moves: boolean): Promise<void> {
    const isTurn = !expression.startsWith('/') || /^\/(?:say|call|stop)\b/.test(expression);
    const evaluate = () =>
      this.client.request('evaluate', { expression, context: 'repl', frameId: 0 }, (body: { result: string }) => {
        if (body.result !== '') this.say('answer', body.result.trimEnd());
      });
    this.#showsPlaces = !moves;
    try {
      if (moves) await this.move(evaluate, isTurn);
      else await evaluate();
      await this.#sayMissed(Number(/^\/turn (\d+)$/.exec(expression)?.[1] ?? 0));
    } finally {
      this.#showsPlaces = false;
    }
  }

  /** Says that the rollout ended before a turn to which it should continue. */
  async #sayMissed(turn: number): Promise<void> {
    if (turn === 0 || this.#isOver || (await resultOf(this.client, 'event.type')) !== '"rewarded"') return;
    const last = await resultOf(this.client, 'turn');
    if (Number(last) < turn) this.say('answer', `there is no turn ${turn}: the rollout ended in turn ${last}`);
  }

  /** Prints the call stack. */
  async where(): Promise<void> {
    const { stackFrames } = await this.client.request<DebugProtocol.StackTraceResponse['body']>('stackTrace', {
      threadId: 1,
    });
    this.say(
      'answer',
      stackFrames.map((frame) => `  step ${frame.id - 1}  ${frame.name}${this.#place(frame)}`).join('\n'),
    );
  }

  /** Prints what a scope of the step has; its name may be shortened. Throws a `UsageError` for an unknown name. */
  async show(name: string): Promise<void> {
    const scopes = await this.#scopes();
    const names = scopes.map((each) => each.name);
    if (name === '') return this.say('answer', names.map((each) => `  ${each}`).join('\n'));
    const isMeant = (each: string) => each.toLowerCase().startsWith(name.toLowerCase());
    const scope = scopes.find((each) => isMeant(each.name));
    if (!scope && isMeant(changedScope)) return this.say('answer', '  nothing changed in this step');
    if (!scope)
      throw new UsageError(`there is no "${name}" here. ${didYouMean(name, names, `It has ${names.join(', ')}`)}`);
    this.say('answer', rowsText(await variablesIn(this.client, scope.variablesReference)) || '  nothing');
  }

  /** Prints the value of an expression; of one with parts each part. Throws a `UsageError` where it has none. */
  async print(expression: string): Promise<void> {
    const { result, variablesReference } = await evaluated(this.client, expression);
    this.say(
      'answer',
      rowsText(variablesReference > 0 ? await variablesIn(this.client, variablesReference) : []) || result,
    );
  }

  async #scopes(): Promise<readonly DebugProtocol.Scope[]> {
    return (await this.client.request<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: 0 })).scopes;
  }

  /** Returns the names that `show` takes. */
  readonly shownNames = async (): Promise<readonly string[]> => (await this.#scopes()).map(({ name }) => name);

  /** The recording, and the step of it that is shown. */
  #stand(): Promise<{ readonly path: string; readonly step: number }> {
    return this.client.request('rehearsal/recording');
  }

  async #print(halt: Halt): Promise<void> {
    if (halt.type === 'terminated') {
      this.#isOver = true;
      this.say('answer', 'The rollout is at its end, so the session ends.');
    }
    if (halt.type === 'awaited' && this.#io.interactive && !this.#options.json && !this.#hasPlayed) {
      this.#hasPlayed = true;
      this.say('command', 'A line is your message. Commands begin with /, such as /where, /back and /help.');
    }
    if (halt.type !== 'stopped') return;
    const { path, step } = await this.#stand();
    this.#left.add(path);
    const { stackFrames } = await this.client.request<DebugProtocol.StackTraceResponse['body']>('stackTrace', {
      threadId: 1,
      levels: 1,
    });
    const [frame] = stackFrames;
    const scopes = await this.#scopes();
    const changed = scopes.find((each) => each.name === changedScope);
    const messages = scopes.find((each) => each.name === 'Messages');
    const call =
      beforeCall.has(await resultOf(this.client, 'event.type')) && messages && (await this.#callIn(messages));
    const lines = [
      `step ${step}, turn ${await resultOf(this.client, 'turn')}: ${frame?.name ?? ''}${frame ? this.#place(frame) : ''}`,
      ...(plainReasons.has(halt.reason) ? [] : [`  stopped: ${indented(halt.text)}`]),
      ...(call ? [`  call: ${call}`] : []),
      ...(changed ? await variablesIn(this.client, changed.variablesReference) : []).map(
        ({ name, value }) => `  changed: ${name}  ${value}`,
      ),
    ];
    this.say('stop', lines.join('\n'), { step, reason: halt.reason, why: halt.text });
  }

  /** The calls of the last message. */
  async #callIn(messages: DebugProtocol.Scope): Promise<string | undefined> {
    const last = (await variablesIn(this.client, messages.variablesReference)).at(-1);
    return last && /^\d+ (?:agent|user)$/.test(last.name) && /^[\w.-]+\(\{.*\}\)$/s.test(last.value)
      ? last.value
      : undefined;
  }

  #place({ source, line }: { readonly source?: DebugProtocol.Source; readonly line?: number }): string {
    return source?.path === undefined
      ? ''
      : `   (${relative(this.#io.cwd, source.path) || basename(source.path)}:${line})`;
  }

  #received({ event, body }: DebugProtocol.Event): void {
    switch (event) {
      case 'initialized':
        this.#initialized.resolve();
        break;
      case 'output': {
        const { output, category, ...at } = body as DebugProtocol.OutputEvent['body'];
        const text = output.replace(/\n$/, '');
        if (category === 'stderr') this.#io.err(output);
        else this.say('output', `${text}${this.#showsPlaces ? this.#place(at) : ''}`);
        break;
      }
      case 'continued':
        this.#hasLeft = true;
        break;
      case 'stopped':
        this.#halt({ type: 'stopped', reason: body.reason, text: body.text });
        break;
      case 'terminated':
        this.#halt({ type: 'terminated' });
        break;
      case 'rehearsal/turnAwaited':
        this.#halt({ type: 'awaited', seat: body.seat });
        break;
    }
  }

  #halt(halt: Halt): void {
    this.#awaited = halt.type === 'awaited' ? halt.seat : null;
    this.#halted.resolve(halt);
  }
}

const rowsText = (rows: readonly DebugProtocol.Variable[]) =>
  rows.map(({ name, value }) => `  ${name}  ${indented(value)}`).join('\n');

/** Indents all lines but the first, so that none of them looks like output of the debugger. */
const indented = (text: string) => text.replaceAll('\n', '\n    ');
