import { type ChatAnswer, readAnswer } from '../../src/engine/shell/models/chatAnswer.ts';

/** Reads a chat completion. Throws for anything else. */
export function answerOf(completion: unknown): ChatAnswer {
  const read = readAnswer(typeof completion === 'string' ? completion : JSON.stringify(completion));
  if (read.type === 'answer') return read.answer;
  throw new Error(JSON.stringify(read));
}
