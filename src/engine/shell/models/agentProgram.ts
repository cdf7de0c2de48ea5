import { type ChildProcess, spawn } from 'node:child_process';
import * as z from 'zod';
import type { AgentProcess, AgentSeat, AgentService } from '../../core/domain/seatSpec.ts';
import { throwUnlessApproved } from '../approvals/approvals.ts';
import { effectsOfAgent } from '../approvals/effects.ts';
import { longestLine, readLines } from '../files/boundedLines.ts';
import { cancelled, Fault } from '../files/fault.ts';
import { boundFetch } from '../keys/boundFetch.ts';
import { type Filled, fillPlaceholders, type PlaceholderProblem } from '../keys/placeholders.ts';
import { redacted, redactedPart } from '../keys/secrets.ts';
import { childEnvironment } from '../processes/childEnvironment.ts';
import { withLastOutput } from '../processes/lastOutput.ts';
import { machineProgram } from '../processes/machineProgram.ts';
import { guardWorker } from '../processes/workerGuard.ts';

/** The input of an agent at each of its turns: one JSON object, a line for a process and a body for a service. */
export type AgentTurn = {
  /** The same for every turn of a rollout. */
  readonly rollout: string;
  /** The whole conversation in OpenAI's format; the last message is what the turn answers. */
  readonly messages: readonly unknown[];
} & Loan;

/** The addresses of an agent's model and tools for one rollout. The key gives access to these two only. */
export type Loan = { readonly base_url: string; readonly api_key: string; readonly mcp_url: string };

/** An agent's program as one rollout has it. */
export type AgentProgram = {
  /** Resolves with the text that ends the turn. Rejects with a `Fault` if the program gives no text. */
  readonly turn: (turn: AgentTurn, signal: AbortSignal) => Promise<string>;
  /** Resolves when its process is gone. */
  readonly close: () => Promise<void>;
};

const answerSchema = z.object({ content: z.string() });
const keptWords = 2000;

/** Environment variables with real keys, which no agent's file may hand on. */
const keys = ['OPENAI_API_KEY'];

/**
 * Starts what plays the agent for one rollout: a process begins with its first turn, a service runs already. Throws an
 * `ApprovalQuestion` for an agent's file that is not approved.
 */
export function openAgentProgram(
  seat: AgentSeat,
  log: (text: string) => void,
  environment: NodeJS.ProcessEnv = process.env,
): AgentProgram {
  throwUnlessApproved(effectsOfAgent(seat));
  const { name, file, program } = seat;
  const refused = (problem: PlaceholderProblem) => {
    const message = `the agent "${name}" ${problem.type === 'unknown' ? `is not started: ${problem.message}` : needs(problem.variable)}`;
    return new Fault({ who: 'environment', code: 'agent/variable', message, file });
  };
  const offered = Object.fromEntries(Object.entries(environment).filter(([key]) => !keys.includes(key)));
  const filled = fillPlaceholders({}, offered, refused);
  return program.type === 'process'
    ? new RunningProcess(name, program, filled, log)
    : new ReachedService(name, program, filled);
}

function needs(variable: string): string {
  const isKey = keys.includes(variable);
  const why = isKey
    ? 'which is never handed to an agent: its own OPENAI_API_KEY opens the lent model'
    : 'which is not set';
  return `needs the environment variable ${variable}, ${why}`;
}

class RunningProcess implements AgentProgram {
  readonly #name: string;
  readonly #program: AgentProcess;
  readonly #filled: Filled;
  readonly #log: (text: string) => void;
  #child: ChildProcess | null = null;
  readonly #gone = Promise.withResolvers<void>();
  #unguard: () => void = () => undefined;
  #answer: PromiseWithResolvers<string> | null = null;
  #lastOutput = '';
  /** Why turns can no longer be answered. */
  #end: Fault | null = null;

  constructor(name: string, program: AgentProcess, filled: Filled, log: (text: string) => void) {
    this.#name = name;
    this.#program = program;
    this.#filled = filled;
    this.#log = log;
  }

  turn(turn: AgentTurn): Promise<string> {
    const answer = Promise.withResolvers<string>();
    this.#answer = answer;
    try {
      this.#child ??= this.#start(turn);
      if (this.#end) throw this.#end;
      this.#child.stdin?.write(`${JSON.stringify(turn)}\n`);
    } catch (error) {
      answer.reject(error);
    }
    return answer.promise;
  }

  async close(): Promise<void> {
    this.#end ??= cancelled();
    this.#kill();
    if (this.#child) await this.#gone.promise;
  }

  #start({ base_url, api_key, mcp_url }: AgentTurn): ChildProcess {
    const { command, args, cwd, env } = this.#program;
    const declared = Object.entries(env).map(([key, value]) => [key, this.#filled.fill(value)]);
    const program = machineProgram(command, { ...childEnvironment(), ...Object.fromEntries(declared) });
    const child = spawn(program.command, [...args], {
      cwd,
      env: {
        ...program.env,
        OPENAI_BASE_URL: base_url,
        OPENAI_API_KEY: api_key,
        REHEARSAL_MCP_URL: mcp_url,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
      // Its own group, so that what it starts ends with it.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.#unguard = guardWorker(child.pid === undefined || process.platform === 'win32' ? child.pid : -child.pid);
    child.stdin.on('error', () => undefined);
    readLines(child.stderr, (line) => {
      this.#lastOutput = redactedPart(`${this.#lastOutput}${line}\n`, -keptWords);
      this.#log(`${this.#name}: ${redacted(line)}`);
    });
    readLines(child.stdout, (line) => this.#said(line), {
      onTooLong: () =>
        this.#over(this.#fault('agent/too-long', `printed more than ${longestLine} characters in one line`)),
    });
    child.on('error', (error) => {
      const message = `the agent "${this.#name}" could not be started: ${command} in ${cwd} (${error.message})`;
      this.#over(new Fault({ who: 'environment', code: 'agent/start', message }));
      this.#gone.resolve();
    });
    child.once('exit', () => this.#gone.resolve());
    child.on('close', (code, signal) => {
      this.#unguard();
      this.#over(
        this.#fault('agent/died', `ended with ${signal ?? `code ${code}`}${this.#answer ? ' in its turn' : ''}`),
      );
    });
    return child;
  }

  #said(line: string): void {
    if (line.trim() === '') return;
    const content = answerIn(line);
    const answer = this.#answer;
    this.#answer = null;
    if (content === null)
      this.#over(
        this.#fault(
          'agent/rubbish',
          `printed "${redactedPart(line, 0, 200)}", and a line {"content": "..."} is expected. Write everything else to its standard error`,
        ),
        answer,
      );
    else if (answer) answer.resolve(content);
    else
      this.#over(this.#fault('agent/unasked', `answered "${redactedPart(content, 0, 200)}" when it was not its turn`));
  }

  #over(fault: Fault, answer = this.#answer): void {
    this.#end ??= fault;
    this.#answer = null;
    answer?.reject(this.#end);
    this.#kill();
  }

  #kill(): void {
    const { pid, exitCode } = this.#child ?? {};
    if (pid === undefined || (exitCode !== null && exitCode !== undefined)) return;
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }

  #fault(code: string, what: string): Fault {
    const { command, args } = this.#program;
    const said = `the agent "${this.#name}" (${[command, ...args].join(' ')}) ${what}`;
    const text = withLastOutput(said, this.#lastOutput);
    return new Fault({ who: 'agent', code, message: this.#filled.redact(text) });
  }
}

class ReachedService implements AgentProgram {
  readonly #name: string;
  readonly #program: AgentService;
  readonly #filled: Filled;

  constructor(name: string, program: AgentService, filled: Filled) {
    this.#name = name;
    this.#program = program;
    this.#filled = filled;
  }

  async turn(turn: AgentTurn, signal: AbortSignal): Promise<string> {
    const { url, headers } = this.#program;
    const sent = { url, namedBy: `a header of the agent "${this.#name}"` };
    const own = Object.entries(headers).map(([key, value]) => [key, this.#filled.fill(value, sent)]);
    let response: Response;
    let text: string;
    try {
      response = await boundFetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...Object.fromEntries(own) },
        body: JSON.stringify(turn),
        signal,
      });
      text = await response.text();
    } catch (error) {
      if (signal.aborted) throw cancelled();
      if (error instanceof Fault) throw this.#fault('agent', 'agent/too-long', `gave no turn: ${error.message}`);
      const { code, message } = (error as { cause?: { code?: string; message?: string } }).cause ?? {};
      if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET' || code === 'EPIPE')
        throw this.#fault('agent', 'agent/died', 'broke the connection before its answer');
      const why = code ?? message ?? String(error);
      throw this.#fault('infrastructure', 'agent/unreachable', `can't be reached (${why}). Is it running?`);
    }
    if (!response.ok)
      throw this.#fault('agent', 'agent/refused', `answered ${response.status}: ${redactedPart(text, 0, 300)}`);
    const content = answerIn(text);
    if (content !== null) return content;
    const shown = redactedPart(text, 0, 200);
    throw this.#fault('agent', 'agent/rubbish', `answered "${shown}", and {"content": "..."} is expected`);
  }

  /** It serves other rollouts too. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  #fault(who: 'agent' | 'infrastructure', code: string, what: string): Fault {
    const text = `the agent "${this.#name}" (${this.#program.url}) ${what}`;
    return new Fault({ who, code, message: this.#filled.redact(text) });
  }
}

function answerIn(text: string): string | null {
  try {
    const parsed = answerSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data.content : null;
  } catch {
    return null;
  }
}
