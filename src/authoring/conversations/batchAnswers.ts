import type { JsonObject } from '../../engine/core/values/json.ts';
import type { LogFile } from './logFile.ts';
import { objectOf, textOf } from './saidMessage.ts';

/**
 * Puts the answers of OpenAI's and Anthropic's batch APIs, which a file of results has apart, into the values of their
 * requests, by `custom_id`. An answer whose request is not in any of the files is left out with a problem.
 */
export function withBatchAnswers(logs: readonly LogFile[]): readonly LogFile[] {
  const values = logs.flatMap((log) => log.values.map(({ value }) => objectOf(value)));
  const answers = Map.groupBy(values.filter(isAnswer), idOf);
  if (answers.size === 0) return logs;
  const requests = Map.groupBy(values.filter(isRequest), idOf);
  const isPaired = (id: string) => requests.get(id)?.length === 1 && answers.get(id)?.length === 1;
  return logs.map((log) => {
    const own = log.values.map((each) => ({ ...each, object: objectOf(each.value) }));
    const apart = own.filter(({ object }) => isAnswer(object) && !isPaired(idOf(object)));
    const repeated = apart.filter(({ object }) => requests.has(idOf(object)));
    return {
      ...log,
      values: own
        .filter(({ object }) => !isAnswer(object))
        .map(({ object, value, line }) => {
          const [answer] = isRequest(object) && isPaired(idOf(object)) ? (answers.get(idOf(object)) ?? []) : [];
          return { value: answer ? { ...object, ...answer } : value, line };
        }),
      problems: [
        ...log.problems,
        ...problemOf(log, repeated, 'the same custom_id as another one. Import one batch at a time'),
        ...problemOf(
          log,
          apart.filter((each) => !repeated.includes(each)),
          'no request. Import the file of the requests together with it',
        ),
      ],
    };
  });
}

const idOf = ({ custom_id }: JsonObject): string => textOf(custom_id) ?? '';

const isRequest = ({ custom_id, body, params }: JsonObject): boolean =>
  custom_id !== undefined && (body ?? params) !== undefined;

const isAnswer = (object: JsonObject): boolean =>
  object['custom_id'] !== undefined && !isRequest(object) && ('response' in object || 'result' in object);

function problemOf(
  { path: file }: LogFile,
  answers: readonly { readonly line: number; readonly object: JsonObject }[],
  cause: string,
): LogFile['problems'] {
  const [first] = answers;
  if (!first) return [];
  const others = answers.length > 1 ? ` (${answers.length} in the file)` : '';
  return [{ file, line: first.line, message: `the answer "${idOf(first.object)}" of a batch${others} has ${cause}` }];
}
