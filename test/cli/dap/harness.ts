import { appendFileSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DebugProtocol } from '@vscode/debugprotocol';
import { onTestFinished } from 'vitest';
import { ownEngine } from '../../../src/cli/dap/rollout/engine.ts';
import type { ProtocolClient } from '../../support/debugClient.ts';
import { InProcessClient, SharedEngine } from '../../support/inProcessClient.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** A copy of order-desk, so that its default folders for runs are not those of the repository. */
export const domain = join(temporaryFolder('rehearsal'), 'order-desk');
cpSync('domains/order-desk', domain, { recursive: true });
export const policy = join(domain, 'policy.md');
appendFileSync(policy, '\n- Be friendly. {#small-talk}\n');
export const tools = join(domain, 'tools.ts');
export const tasks = join(domain, 'tasks', 'lamp-variant.task.yaml');

/** Returns the line (from 1) of a file that has a text. */
export const lineOf = (file: string, text: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .findIndex((line) => line.includes(text)) + 1;
export const ruleLine = () => lineOf(policy, 'Before any call that changes something');

type Evaluation = DebugProtocol.EvaluateResponse['body'];
type Setting = {
  readonly breakpoints?: Readonly<Record<string, number>>;
  readonly filters?: readonly string[];
  /** The arguments of the client's initialize request. */
  readonly client?: object;
};

/** A debug session of an editor: a client, and a folder for its runs. */
export class Session {
  readonly client: ProtocolClient;
  readonly runs = temporaryFolder('rehearsal-runs');

  constructor(client: ProtocolClient = new InProcessClient(ownEngine)) {
    this.client = client;
  }

  /** Initializes, sets breakpoints, launches or attaches, and returns the first stop. */
  async begin(args: object, setting: Setting = {}) {
    const { opening, placed } = await this.open(args, setting);
    const stop = await this.client.stop(() => this.client.request('configurationDone'));
    return { stop, opened: await opening, breakpoints: placed };
  }

  /** Does the same up to `configurationDone`, which the caller sends. */
  async open(args: object, { breakpoints = {}, filters = [], client: said = {} }: Setting = {}) {
    const { client } = this;
    await client.request('initialize', { adapterID: 'rehearsal', supportsInvalidatedEvent: true, ...said });
    const opening = client.request('recording' in args ? 'attach' : 'launch', { domain, runs: this.runs, ...args });
    await Promise.race([client.event('initialized'), opening]);
    const placed: DebugProtocol.Breakpoint[] = [];
    for (const [path, line] of Object.entries(breakpoints)) {
      const set = { source: { path }, breakpoints: [{ line }] };
      placed.push(
        ...(await client.request<DebugProtocol.SetBreakpointsResponse['body']>('setBreakpoints', set)).body.breakpoints,
      );
    }
    await client.request('setExceptionBreakpoints', { filters });
    return { opening, placed };
  }

  /** The top frame: file, line and name. */
  async top(): Promise<string> {
    const { body } = await this.client.request<DebugProtocol.StackTraceResponse['body']>('stackTrace', { threadId: 1 });
    const [frame] = body.stackFrames;
    return `${frame?.source?.name}:${frame?.line} ${frame?.name}`;
  }

  /** Returns the variables under a path of names, from the scopes of the top frame. */
  async variables(
    ...path: readonly string[]
  ): Promise<{ reference: number; found: readonly DebugProtocol.Variable[] }> {
    const { body } = await this.client.request<DebugProtocol.ScopesResponse['body']>('scopes', { frameId: 0 });
    let reference = body.scopes.find(({ name }) => name === path[0])?.variablesReference ?? 0;
    let found = await this.children(reference);
    for (const name of path.slice(1)) {
      reference = found.find((each) => each.name.startsWith(name))?.variablesReference ?? 0;
      found = await this.children(reference);
    }
    return { reference, found };
  }

  async children(variablesReference: number): Promise<readonly DebugProtocol.Variable[]> {
    const answer = await this.client.request<DebugProtocol.VariablesResponse['body']>('variables', {
      variablesReference,
    });
    return answer.body.variables;
  }

  /** Returns the value of a variable in VARIABLES by its path of names, scope first. */
  async value(...path: readonly string[]): Promise<string | undefined> {
    const { found } = await this.variables(...path.slice(0, -1));
    return found.find(({ name }) => name === path.at(-1))?.value;
  }

  /** Sets a value in VARIABLES. Returns the text of the stop that follows, or of the refusal. */
  async set(path: readonly string[], value: string): Promise<string | undefined> {
    const { reference } = await this.variables(...path.slice(0, -1));
    const after = this.client.events.length;
    const set = { variablesReference: reference, name: path.at(-1), value };
    const answer = await this.client.request<{ error?: DebugProtocol.Message }>('setVariable', set);
    return answer.success ? text(await this.client.event('stopped', after)) : `refused: ${answer.body.error?.format}`;
  }

  /** Replaces the agent's last message. Returns the text of the stop that follows. */
  async rewrite(content: string): Promise<string | undefined> {
    const { found } = await this.variables('Messages');
    return this.set(['Messages', found.findLast((each) => each.name.endsWith('agent'))?.name ?? ''], content);
  }

  /** Evaluates in the Debug Console. Returns the answer, or the text of the refusal. */
  async type(expression: string): Promise<string> {
    const args = { expression, context: 'repl', frameId: 0 };
    const { success, body } = await this.client.request<Evaluation & { error?: DebugProtocol.Message }>(
      'evaluate',
      args,
    );
    return success ? body.result : `refused: ${body.error?.format}`;
  }

  /** Sends a request that moves the session. Returns the stop that follows. */
  step(name: string): Promise<DebugProtocol.Event> {
    return this.client.stop(() => this.client.request(name, { threadId: 1 }));
  }

  /** Continues to the end, past the stops in between. */
  async finish(): Promise<string | undefined> {
    for (;;) {
      const stop = await this.step('continue');
      if (reason(stop) === 'exit' || stop.event === 'terminated') return text(stop);
    }
  }

  /** Waits until the Debug Console shows a text. */
  async shows(wanted: string | RegExp): Promise<void> {
    const isThere = () =>
      typeof wanted === 'string' ? this.client.output.includes(wanted) : wanted.test(this.client.output);
    while (!isThere()) await this.client.event('output', this.client.events.length);
  }

  /** Returns the paths of this session's recordings, forks last. */
  recordings(): readonly string[] {
    const names = readdirSync(this.runs, { recursive: true, encoding: 'utf8' });
    const isFork = (name: string) => Number(name.includes('.fork-'));
    const found = names.filter((name) => name.endsWith('.traj.jsonl')).sort((a, b) => isFork(a) - isFork(b));
    return found.map((name) => join(this.runs, name));
  }

  close(): void {
    this.client.close();
  }
}

/** Opens a session, which is closed at the end of the test. */
export function session(client?: ProtocolClient): Session {
  const made = new Session(client);
  onTestFinished(() => made.close());
  return made;
}

/** Test files share this module, and so its workers, which end with the process. */
export const sharedEngine = new SharedEngine();

/** Opens a session with the shared domain and workers, for tests that do not change the domain's files. */
export function sharedSession(): Session {
  return session(new InProcessClient(sharedEngine));
}

export const text = (stop: DebugProtocol.Event) => (stop.body as { text?: string } | undefined)?.text;
export const reason = (stop: DebugProtocol.Event) => (stop.body as { reason?: string } | undefined)?.reason;
