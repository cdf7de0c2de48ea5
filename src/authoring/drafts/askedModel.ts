import type * as z from 'zod';
import type { ModelSeat } from '../../engine/core/domain/seatSpec.ts';
import { issueText } from '../../engine/core/text/issueText.ts';
import { objectsInText } from '../../engine/core/values/jsonInText.ts';
import { Fault } from '../../engine/shell/files/fault.ts';
import { redactedPart } from '../../engine/shell/keys/secrets.ts';
import type { OnRetry } from '../../engine/shell/models/endpointAttempts.ts';

/** A model that writes data, and how it is reached. */
export type Drafter = {
  readonly seat: ModelSeat;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly onRetry?: OnRetry;
};

/** The most times a model is asked for one draft; each new request includes the last error. */
export const mostAsks = 3;

/**
 * Asks a model for data that matches a schema. If the answer can't be used, asks again with the error. Throws a `Fault`
 * after `mostAsks` attempts.
 * @param judge returns a sentence that says what is wrong with data that matches; null if it can be used
 * @param wanted the name of the data, and the advice if the model can't provide it
 */
export async function askForData<T>(
  drafter: Drafter,
  instructions: string,
  request: string,
  schema: z.ZodType<T>,
  judge: (value: T) => Promise<string | null>,
  wanted = { code: 'draft/model', what: 'draft', advice: 'Try another model, or draft without one' },
): Promise<T> {
  const { seat, key, signal, onRetry } = drafter;
  const { askForObject } = await import('../../engine/shell/models/structuredOutput.ts');
  let problem = '';
  for (let asked = 0; asked < mostAsks; asked++) {
    const before =
      problem === ''
        ? ''
        : `\n\nYour last answer could not be used: ${problem}. Answer again, with the JSON object alone.`;
    const messages = [
      { role: 'system' as const, content: instructions },
      { role: 'user' as const, content: `${request}${before}` },
    ];
    const asking = {
      body: { messages },
      read: (text: string) => valueIn(text, schema),
      isAnswer: (found: Read<T>) => 'value' in found,
      broken: (how: string) => ({ problem: `it was ${how}` }),
    };
    const { reply: read } = await askForObject<Read<T>>(
      { temperature: 0.7, ...seat },
      key,
      'author',
      asking,
      signal,
      onRetry,
    );
    if ('problem' in read) problem = read.problem;
    else {
      const found = await judge(read.value);
      if (found === null) return read.value;
      problem = found;
    }
  }
  throw new Fault({
    who: 'infrastructure',
    code: wanted.code,
    message: `${seat.model} gave no ${wanted.what} that can be used, after ${mostAsks} tries: ${problem}. ${wanted.advice}`,
  });
}

type Read<T> = { readonly value: T } | { readonly problem: string };

/** The value in a text that may have words or a fence around it: the last object that fits. */
function valueIn<T>(text: string, schema: z.ZodType<T>): Read<T> {
  const parsed = objectsInText(text).map((each) => schema.safeParse(each));
  const fitting = parsed.findLast(({ success }) => success);
  if (fitting?.success) return { value: fitting.data };
  const last = parsed.at(-1);
  if (!last) return { problem: `it contains no JSON object: "${redactedPart(text.replace(/\s+/g, ' '), 0, 120)}"` };
  return { problem: last.error ? issueText(last.error, 'the object') : 'the object does not fit' };
}
