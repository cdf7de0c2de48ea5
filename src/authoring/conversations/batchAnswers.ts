import type { JsonObject } from '../../engine/core/values/json.ts';
import type { ImportProblem } from './conversation.ts';
import type { LogFile } from './logFile.ts';
import { errorIn } from './loggedAnswer.ts';
import { objectOf, textOf } from './saidMessage.ts';

/**
 * Puts the answers of OpenAI's and Anthropic's batch APIs, which a file of results has apart, into the values of their
 * requests, by `custom_id`. An answer whose request is not in any of the files is left out with a problem, one that is an
 * error with a note.
 */
export function withBatchAnswers(logs: readonly LogFile[]): Answered {
  const values = logs.flatMap((log) => log.values.map(({ value }) => objectOf(value)));
  const answers = Map.groupBy(values.filter(isAnswer), idOf);
  if (answers.size === 0) return { logs, notes: [] };
  const requests = Map.groupBy(values.filter(isRequest), idOf);
  const isPaired = (id: string) => requests.get(id)?.length === 1 && answers.get(id)?.length === 1;
  const notes: ImportProblem[] = [];
  const answered = logs.map((log) => {
    const own = log.values.map((each) => ({ ...each, object: objectOf(each.value) }));
    const apart = own.filter(({ object }) => isAnswer(object) && !isPaired(idOf(object)));
    const repeated = apart.filter(({ object }) => requests.has(idOf(object)));
    return {
      ...log,
      values: own
        .filter(({ object }) => !isAnswer(object))
        .map(({ object, value, line }) => {
          const [answer] = isRequest(object) && isPaired(idOf(object)) ? (answers.get(idOf(object)) ?? []) : [];
          const failure = answer && failureOf(answer);
          if (failure === undefined) return { value: answer ? { ...object, ...answer } : value, line };
          const message = `the request "${idOf(object)}" of a batch was not answered: ${failure}`;
          notes.push({ file: log.path, line, message });
          return { value, line };
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
  return { logs: answered, notes };
}

/** Files with the answers in their requests, and what became of the requests that failed. */
type Answered = { readonly logs: readonly LogFile[]; readonly notes: readonly ImportProblem[] };

/** Returns why a request of a batch has no answer; undefined where it has one. */
function failureOf(answer: JsonObject): string | undefined {
  const { response, result } = answer;
  const status = Number(objectOf(response)['status_code'] ?? 200);
  const kind = textOf(objectOf(result)['type']);
  const hasFailed = kind === undefined ? status >= 400 || !response : kind !== 'succeeded';
  return hasFailed ? (errorIn(answer) ?? kind ?? `status ${status}`) : undefined;
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
