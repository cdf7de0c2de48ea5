import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as setTimer } from 'node:timers/promises';
import * as z from 'zod';
import { jsonOf } from '../../../engine/core/values/json.ts';
import { Fault, messageOf } from '../../../engine/shell/files/fault.ts';
import { AnswerTooLong, longestAnswer } from '../../../engine/shell/keys/boundFetch.ts';
import { keptSecret, redacted, redactedPart } from '../../../engine/shell/keys/secrets.ts';
import { lastLineOf } from '../../python/lastLine.ts';
import { UsageError } from '../../terminal/io.ts';
import { environmentFault } from '../targetFaults.ts';

const versionSchema = z.looseObject({ ray_version: z.string() });
const submittedSchema = z.looseObject({ submission_id: z.string() });
const jobSchema = z.looseObject({
  status: z.enum(['PENDING', 'RUNNING', 'STOPPED', 'SUCCEEDED', 'FAILED']),
  message: z.string().nullish(),
});
const logsSchema = z.looseObject({ logs: z.string() });

export type Job = z.infer<typeof jobSchema>;

/** A job to submit. It must not contain a key: anyone who can see the cluster can read it. */
export type Submission = {
  readonly entrypoint: string;
  readonly submission_id?: string;
  readonly runtime_env: { readonly working_dir?: string; readonly env_vars?: Readonly<Record<string, string>> };
};

type Answer = { readonly status: number; readonly words: string };

/** Whether nothing of it runs after that. */
export const isOver = ({ status }: Job) => status === 'STOPPED' || status === 'SUCCEEDED' || status === 'FAILED';

/** The last thing that a job has printed; what Ray says about it where it printed nothing. */
export function wordsOfJob({ message }: Job, logs: string): string {
  return redacted(lastLineOf(logs) || (message ?? ''));
}

/** A Ray cluster's own job interface, over HTTP. */
export class RayJobs {
  /** `http://host:8265`. */
  readonly address: string;
  /** For people: `host:8265`. */
  readonly name: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param target `ray://HOST:PORT`, or `rays://HOST:PORT` for a head behind TLS */
  constructor(target: string, environment: NodeJS.ProcessEnv) {
    const [, scheme, name] = /^(rays?):\/\/([\w.-]+(?::\d{1,5})?)\/?$/.exec(target) ?? [];
    if (!name)
      throw new UsageError(`--target ${target}: expected ray://HOST:8265, the address of the cluster's dashboard`);
    this.name = name.includes(':') ? name : `${name}:8265`;
    this.address = `${scheme === 'rays' ? 'https' : 'http'}://${this.name}`;
    const token = tokenOf(environment);
    this.#headers = token ? { Authorization: `Bearer ${keptSecret('RAY_AUTH_TOKEN', token)}` } : {};
  }

  async version(): Promise<string> {
    const { ray_version: version } = versionSchema.parse(await this.#json('GET', '/api/version'));
    return version;
  }

  /** Makes a package known to the cluster, once; returns its URI. */
  async upload(name: string, content: Uint8Array): Promise<string> {
    const path = `/api/packages/gcs/${name}`;
    const known = await this.#ask('GET', path);
    if (known.status === 404) this.#told(await this.#ask('PUT', path, content), path);
    else this.#told(known, path);
    return `gcs://${name}`;
  }

  async submit(submission: Submission, signal?: AbortSignal): Promise<string> {
    for (let left = 90; ; left--) {
      const answer = await this.#ask('POST', '/api/jobs/', JSON.stringify(submission));
      // A head that has just been started has nothing yet that takes jobs; a busy one needs minutes for it.
      if (!answer.words.includes('No available agent'))
        return submittedSchema.parse(JSON.parse(this.#told(answer, '/api/jobs/'))).submission_id;
      if (left === 0) throw this.#idle();
      await setTimer(2000, undefined, { signal });
    }
  }

  /** Returns how a job is; undefined for one that the cluster does not know. */
  async find(id: string): Promise<Job | undefined> {
    const path = `/api/jobs/${id}`;
    const answer = await this.#ask('GET', path);
    return answer.status === 404 ? undefined : jobSchema.parse(this.#read(answer, path));
  }

  /** Returns how a job is. Throws a `Fault` for one that the cluster does not know. */
  async job(id: string): Promise<Job> {
    const job = await this.find(id);
    if (job) return job;
    throw environmentFault(
      'ray/no-job',
      `${this.name} does not know the job ${id}: the cluster was restarted, or this is the address of another cluster. The run's folder has everything received so far; resume continues from the last checkpoint in the cluster's storage`,
    );
  }

  /** Everything that a job has printed. */
  async logs(id: string): Promise<string> {
    return logsSchema.parse(await this.#json('GET', `/api/jobs/${id}/logs`)).logs;
  }

  async stop(id: string): Promise<void> {
    await this.#json('POST', `/api/jobs/${id}/stop`);
  }

  /** Runs a job that is over soon, and returns what it printed. */
  async run(submission: Submission, signal: AbortSignal): Promise<{ readonly job: Job; readonly logs: string }> {
    const id = await this.submit(submission, signal);
    for (;;) {
      const job = await this.job(id);
      if (isOver(job)) return { job, logs: await this.logs(id) };
      await setTimer(500, undefined, { signal });
    }
  }

  /**
   * Hands over what a job prints, from its beginning, until the job is over. The log comes whole each time, so a long
   * one is asked for less often.
   */
  async follow(id: string, onText: (text: string) => void, signal: AbortSignal): Promise<Job> {
    let told = 0;
    for (;;) {
      const job = await this.job(id);
      const started = performance.now();
      const logs = await this.logs(id);
      if (logs.length > told) onText(logs.slice(told));
      told = logs.length;
      if (isOver(job)) return job;
      await setTimer(Math.max(1000, 10 * (performance.now() - started)), undefined, { signal });
    }
  }

  async #json(method: string, path: string, body?: object): Promise<unknown> {
    return this.#read(await this.#ask(method, path, body && JSON.stringify(body)), path);
  }

  #read(answer: Answer, path: string): unknown {
    const value = jsonOf(this.#told(answer, path));
    if (value === undefined) throw this.#failed(`answers ${path} with text that is not JSON`);
    return value;
  }

  /** Not with `fetch`, whose headers are a browser's: Ray takes no change from those. */
  async #ask(method: string, path: string, body?: string | Uint8Array): Promise<Answer> {
    const url = new URL(path, this.address);
    const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream';
    const headers = { ...this.#headers, ...(body === undefined ? {} : { 'Content-Type': type }) };
    const signal = AbortSignal.timeout(120_000);
    try {
      return await new Promise<Answer>((answered, failed) => {
        const ask = url.protocol === 'https:' ? httpsRequest : httpRequest;
        const request = ask(url, { method, headers, signal }, (response) => {
          textOf(response, this.address).then((words) => answered({ status: response.statusCode ?? 0, words }), failed);
        });
        request.on('error', failed).end(body);
      });
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw this.#unreachable((error as NodeJS.ErrnoException).code ?? messageOf(error));
    }
  }

  #told({ status, words }: Answer, path: string): string {
    if (status >= 200 && status < 300) return words;
    if (status === 401 || status === 403)
      throw environmentFault(
        'ray/token',
        `${this.name} requires its token: set RAY_AUTH_TOKEN, or put it into ~/.ray/auth_token (ray get-auth-token on the cluster's head prints it)`,
      );
    throw this.#failed(`answers ${status} to ${path}: ${redactedPart(words.trim().split('\n').at(-1) ?? '', 0, 300)}`);
  }

  #failed(what: string): Fault {
    return new Fault({ who: 'infrastructure', code: 'ray/failed', message: `${this.name} ${what}` });
  }

  #idle(): Fault {
    return new Fault({
      who: 'infrastructure',
      code: 'ray/no-agent',
      message: `${this.name} accepts no jobs: its agent did not start within three minutes. The reason is in dashboard_agent.log of the head's session (/tmp/ray/session_latest/logs), for example that another Ray uses the port; ray start --dashboard-agent-listen-port PORT sets a different one`,
    });
  }

  #unreachable(reason: string): Fault {
    return new Fault({
      who: 'infrastructure',
      code: 'ray/unreachable',
      message: `${this.name} can't be reached (${reason}): is it the address of the cluster's dashboard (ray start --head prints it), and is the port open from here? ssh -L 8265:localhost:8265 HEAD forwards it to this machine`,
    });
  }
}

/** The body of a response, up to the limit of every other one. */
async function textOf(response: IncomingMessage, origin: string): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > longestAnswer) throw new AnswerTooLong(origin);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** The token as Ray itself looks for it: a variable, the file that another names, the file in the home folder. */
function tokenOf(environment: NodeJS.ProcessEnv): string | undefined {
  const { RAY_AUTH_TOKEN: token, RAY_AUTH_TOKEN_PATH: path = join(homedir(), '.ray', 'auth_token') } = environment;
  if (token) return token.trim();
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
