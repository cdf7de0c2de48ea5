import type { ModelSeat } from '../../core/domain/seatSpec.ts';
import { brokenEndText } from '../../core/events/displayText.ts';
import { endsWithObject } from '../../core/values/answerEnd.ts';
import { type JsonObject, jsonOf } from '../../core/values/json.ts';
import type { ChatAnswer } from './chatAnswer.ts';
import type { ChatBody } from './chatMessage.ts';
import type { OnRetry } from './endpointAttempts.ts';
import type { ModelPurpose } from './endpointFaults.ts';
import { type Answered, completeWhole } from './openai.ts';
import { fieldsOf } from './providerError.ts';

/**
 * Returns the field of a request that asks for JSON of a schema. An endpoint that does not support it ignores the field,
 * or refuses it and is then asked without it.
 * @param strict whether the schema keeps to what strict mode allows: every key required, without further ones
 */
export function structured(name: string, schema: JsonObject, strict = true) {
  return { type: 'json_schema', json_schema: { name, schema, strict } };
}

/** A request to a model, with the function that reads the reply from its text. */
type AskedFor<Reply> = {
  readonly body: ChatBody;
  readonly read: (text: string) => Reply;
  /** Whether a reply is an answer, and not a problem with it. */
  readonly isAnswer: (reply: Reply) => boolean;
  /** The reply to an answer that is not whole. */
  readonly broken: (how: string) => Reply;
};

/** Asks a model for JSON. An answer that is not whole counts only if it ends with a JSON object that can be read. */
export async function askForObject<Reply>(
  seat: ModelSeat,
  key: string,
  who: ModelPurpose,
  { body, read, isAnswer, broken }: AskedFor<Reply>,
  signal: AbortSignal,
  onRetry?: OnRetry,
): Promise<Answered<Reply>> {
  const { answer, call } = await completeWhole(seat, key, who, signal, body, onRetry);
  const text = structuredText(answer);
  const reply = read(text);
  if (answer.brokenEnd === null || (isAnswer(reply) && endsWithObject(text))) return { reply, call };
  return { reply: broken(brokenEndText[answer.brokenEnd]), call };
}

/**
 * Returns the text of an answer that has JSON. vLLM's reasoning parsers put an answer without thoughts into theirs. An
 * object among the words of a thought is not an answer.
 */
function structuredText({ content, thoughts, brokenEnd }: ChatAnswer): string {
  const said = content ?? '';
  return said.trim() === '' && brokenEnd === null && isObjectAlone(thoughts) ? thoughts : said;
}

/** Whether a text is one JSON object, alone or in a block of code. */
function isObjectAlone(text: string | null): text is string {
  const written = (text ?? '')
    .trim()
    .replace(/^```\w*/, '')
    .replace(/```$/, '');
  return fieldsOf(jsonOf(written)) !== undefined;
}
