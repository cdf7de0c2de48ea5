import { parseExpression } from '../../core/expression.ts';
import type { Task } from '../../core/task.ts';
import { assertionNames } from '../../core/verifiers/assertions.ts';
import { checkExpression } from './checkExpression.ts';
import { keyOf, type Placed, placeOf } from './items.ts';
import type { Parts } from './loadedDomain.ts';
import { didYouMean } from './nearest.ts';
import { argumentsOf, type Bases, checkToolName, type KnownTools, type Note } from './note.ts';

/** What a task demands of a rollout's end must be there to be looked at. */
export function checkDemands(placed: Placed<Task>, parts: Parts, bases: Bases, known: KnownTools, note: Note): void {
  checkAssertions(placed, parts, bases, note);
  checkReceipts(placed, bases, known, note);
  checkVerifiers(placed, parts, note);
}

function checkAssertions(placed: Placed<Task>, { file }: Parts, bases: Bases, note: Note): void {
  const environments = Object.keys(file.value.environments);
  const readers = [
    ...Object.entries(file.value.mcpServers).flatMap(([name, { reader }]) => (reader ? [name] : [])),
    ...environments,
  ];
  for (const [index, assertion] of placed.value.assertions.entries()) {
    checkDemand(placed, index, bases, note);
    if (assertion.in === 'agent' || assertion.in === 'user' || readers.includes(assertion.in)) continue;
    // What an assertion of an environment says: its name stands behind a colon.
    if (environments.includes(assertion.in.split(':')[0] ?? '')) continue;
    const isServer = Object.hasOwn(file.value.mcpServers, assertion.in);
    const message = isServer
      ? `The server ${assertion.in} has no state reader.`
      : `There is no state of ${assertion.in}.`;
    const hint = isServer
      ? `Add reader: to mcpServers.${assertion.in} in domain.yaml.`
      : `Write ${['agent', 'user', ...readers].join(', ')}.`;
    note(
      placeOf(placed, 'assertions', index, 'in'),
      'error',
      'task/unknown-source',
      message,
      didYouMean(assertion.in, isServer ? [] : readers, hint),
    );
  }
}

/** An assertion is a path with what is expected there, or an expression. */
function checkDemand(placed: Placed<Task>, index: number, bases: Bases, note: Note): void {
  const assertion = placed.value.assertions[index];
  if (!assertion) return;
  const { path, that, equals, contains, exists } = assertion;
  const at = placeOf(placed, 'assertions', index);
  const expectations = [equals, contains, exists].filter((each) => each !== undefined);
  if (that !== undefined) {
    const where = placeOf(placed, 'assertions', index, 'that');
    checkExpression(that, where, { kind: 'task', names: assertionNames, args: [], bases, note });
    if (path === undefined && expectations.length === 0) return;
    const message = 'This assertion has an expression and a path.';
    note(at, 'error', 'task/assertion-twice', message, 'Write two assertions.');
  } else if (path === undefined || expectations.length === 0) {
    const hint = path === undefined ? 'Add that:, or path: and equals:.' : 'Add equals:, contains: or exists:.';
    note(at, 'error', 'task/assertion-empty', 'This assertion demands nothing.', hint);
  } else {
    const text = /^\[/.test(path) ? `root${path}` : path;
    const parsed = parseExpression(text);
    if (!('problem' in parsed)) return;
    const message = `This is no path: ${parsed.problem}.`;
    note(
      placeOf(placed, 'assertions', index, 'path'),
      'error',
      'task/bad-expression',
      message,
      'Write orders["W-1"].status.',
    );
  }
}

function checkReceipts(placed: Placed<Task>, bases: Bases, known: KnownTools, note: Note): void {
  for (const [index, receipt] of (placed.value.receipts ?? []).entries()) {
    const isKnown = checkToolName(receipt.tool, placeOf(placed, 'receipts', index, 'tool'), 'task', known, note);
    if (receipt.when !== undefined) {
      const at = placeOf(placed, 'receipts', index, 'when');
      checkExpression(receipt.when, at, { kind: 'task', names: ['args', 'result'], args: [], bases, note });
    }
    const tool = isKnown ? known.tools.get(receipt.tool) : undefined;
    if (!tool) continue;
    const names = argumentsOf(tool);
    for (const name of Object.keys(receipt.arguments ?? {})) {
      if (names.includes(name)) continue;
      const hint = didYouMean(name, names, `Its arguments are ${names.join(', ')}.`);
      const at = keyOf(placed, 'receipts', index, 'arguments', name);
      note(at, 'error', 'task/bad-arguments', `${tool.name}: there is no argument ${name}.`, hint);
    }
  }
}

function checkVerifiers(placed: Placed<Task>, { verifiers }: Parts, note: Note): void {
  for (const [index, name] of (placed.value.verifiers ?? []).entries()) {
    if (verifiers.includes(name)) continue;
    const all = verifiers.length === 0 ? 'There is no verifiers.ts with any.' : `It has ${verifiers.join(', ')}.`;
    const at = placeOf(placed, 'verifiers', index);
    note(
      at,
      'error',
      'task/unknown-verifier',
      `verifiers.ts exports no verifier ${name}.`,
      didYouMean(name, verifiers, all),
    );
  }
}
