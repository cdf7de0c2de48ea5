import type { DebugProtocol } from '@vscode/debugprotocol';
import { didYouMean, nearest, suggestion } from '../../../engine/shell/source/nearest.ts';
import { type Completed, UsageError } from '../../terminal/io.ts';
import { assignmentIn } from '../variables/assignment.ts';
import { expressionOf } from '../variables/databaseRows.ts';
import { completedInConsole, completedRow, lastWordOf } from './completion.ts';
import type { InProcessClient } from './inProcessClient.ts';

/** A typed edit: an expression that names the value, and its new value. */
export type TypedEdit = { readonly expression: string; readonly value: string };

/** Returns the value of an expression at the current step, as JSON. Throws a `UsageError` if it has none. */
export async function resultOf(client: InProcessClient, expression: string): Promise<string> {
  return (await evaluated(client, expression)).result;
}

/** Returns the value of an expression with a reference to its contents. */
export function evaluated(client: InProcessClient, expression: string) {
  const args = { expression, context: 'watch', frameId: 0 };
  return client.request<DebugProtocol.EvaluateResponse['body']>('evaluate', args);
}

const kinds = ['message', 'argument', 'row'] as const;

/** Reads what follows `edit`. Throws a `UsageError` for what cannot be edited, which says what can. */
export async function parseEdit(client: InProcessClient, text: string): Promise<TypedEdit> {
  const [, kind = '', rest = ''] = /^(\w*)\s*(.*)$/s.exec(text) ?? [];
  if (kind === 'result')
    throw new UsageError(
      'a result of a tool cannot be edited. Edit the call (edit argument NAME = VALUE), or go back before the call and edit the row (edit row TABLE/ID/FIELD = VALUE)',
    );
  if (kind === 'message' && rest !== '') return { expression: `messages[${await lastSpoken(client)}]`, value: rest };
  if (kind === 'argument' || kind === 'row') {
    const [, name = '', value = ''] = /^(.*?)\s*=\s*(.*)$/s.exec(rest) ?? [];
    if (name === '' || value === '')
      throw new UsageError(`write edit ${kind} ${kind === 'row' ? 'TABLE/ID/FIELD' : 'NAME'} = VALUE`);
    if (kind === 'row') return { expression: await rowExpression(client, name), value };
    const last = `messages[${await lastSpoken(client)}]`;
    if ((await namesIn(client, `${last}.toolCalls`)).length === 0)
      throw new UsageError('the last message makes no call. Go to the step at which one is made, with step or back');
    await throwUnlessArgument(client, `${last}.toolCalls[0]`, name);
    return { expression: `${last}.toolCalls[0].arguments.${name}`, value };
  }
  const assignment = assignmentIn(text);
  if (assignment) return assignment;
  const meant = nearest(kind, kinds);
  if (meant !== undefined && meant !== kind)
    throw new UsageError(`there is no edit ${kind}. Did you mean "edit ${meant}"?`);
  throw new UsageError(
    'write edit message TEXT, edit argument NAME = VALUE, edit row TABLE/ID/FIELD = VALUE, or edit EXPRESSION = VALUE',
  );
}

/** Throws a `UsageError` if a call does not have the argument that a path begins with. */
async function throwUnlessArgument(client: InProcessClient, call: string, path: string): Promise<void> {
  const names = await namesIn(client, `${call}.arguments`);
  const name = path.split(/[.[]/, 1)[0] ?? '';
  if (names.includes(name)) return;
  const tool = JSON.parse(await resultOf(client, `${call}.name`));
  const has = names.length === 0 ? '' : `. It has ${names.join(', ')}${suggestion(name, names)}`;
  throw new UsageError(`the call of ${tool} has no argument${names.length === 0 ? 's' : ` "${name}"`}${has}`);
}

/** Returns what completes the text behind `edit`. */
export async function completedEdit(client: InProcessClient, text: string): Promise<Completed> {
  const [, kind, rest = ''] = /^(message|argument|row)\s+(.*)$/s.exec(text) ?? [];
  if (kind === 'row') return completedRow(client, rest);
  if (kind === 'argument')
    return lastWordOf(rest, await namesIn(client, `messages[${await lastSpoken(client)}].toolCalls[0].arguments`));
  if (kind === 'message') return [[], text];
  const [words, end] = await completedInConsole(client, text);
  return [[...kinds.filter((each) => text === end && each.startsWith(text)), ...words], end];
}

/** The rows behind a reference. */
export async function variablesIn(
  client: InProcessClient,
  variablesReference: number,
): Promise<readonly DebugProtocol.Variable[]> {
  const args = { variablesReference };
  return (await client.request<DebugProtocol.VariablesResponse['body']>('variables', args)).variables;
}

/** Returns the index of the last message of the agent or the user. Throws a `UsageError` if no one has spoken. */
async function lastSpoken(client: InProcessClient): Promise<number> {
  for (let index = Number(await resultOf(client, 'count(messages)')) - 1; index >= 0; index -= 1)
    if (/"(?:agent|user)"/.test(await resultOf(client, `messages[${index}].role`))) return index;
  throw new UsageError('there is no message yet: step to one of the agent or of the user');
}

/**
 * The expression of a row or of what is in it: `orders/W1/status`, `user/phone` on the user's side, or the expression
 * itself. A row need not exist yet. Throws a `UsageError` for a table that does not exist.
 */
export async function rowExpression(client: InProcessClient, text: string): Promise<string> {
  const [first = '', ...rest] = text.split('/');
  const isUsers = first === 'user' && rest.length > 0;
  const keys = isUsers ? rest : [first, ...rest];
  const [table = ''] = keys;
  if (rest.length === 0 && /[.[]/.test(table)) return text;
  const root = isUsers ? 'user' : 'db';
  const { variablesReference } = await evaluated(client, root);
  const tables = (await variablesIn(client, variablesReference)).map(({ name }) => name);
  if (!tables.includes(table))
    throw new UsageError(
      `there is no table "${table}" in ${root}. ${didYouMean(table, tables, `It has ${tables.join(', ')}`)}`,
    );
  const path = keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  const side = isUsers ? 'user' : 'agent';
  if (keys.length > 2) await throwIfMisspelt(client, expressionOf(side, path.slice(0, -1)), keys.at(-1) ?? '');
  return expressionOf(side, path);
}

/** Throws a `UsageError` if a name that a value does not have is almost one that it has. */
async function throwIfMisspelt(client: InProcessClient, parent: string, name: string): Promise<void> {
  const names = await namesIn(client, parent);
  const meant = names.includes(name) ? undefined : nearest(name, names);
  if (meant !== undefined) throw new UsageError(`${parent} has no ${name}. Did you mean "${meant}"?`);
}

/** Returns the names in the value of an expression; empty if it has no value yet. */
async function namesIn(client: InProcessClient, expression: string): Promise<readonly string[]> {
  try {
    const { variablesReference } = await evaluated(client, expression);
    return variablesReference === 0 ? [] : (await variablesIn(client, variablesReference)).map(({ name }) => name);
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}
