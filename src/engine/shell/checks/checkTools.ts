import { describeSimulated } from '../../core/domain/simulatedTool.ts';
import { sourceOf } from '../../core/domain/sources/sources.ts';
import { isToolName, type Tool } from '../../core/domain/tool.ts';
import type { JsonObject } from '../../core/values/json.ts';
import type { Location } from '../files/diagnostic.ts';
import { requiredMissing, schemaProblem, strictProblems } from '../load/arguments.ts';
import type { Parts } from '../load/loadedDomain.ts';
import { compileSchema } from '../load/schemaCompiler.ts';
import { unsupportedPatterns } from '../load/schemaPatterns.ts';
import { wordsIn } from '../load/taskWorld.ts';
import { fixOf, replacing } from '../source/edit.ts';
import { placeOf } from '../source/items.ts';
import { nearest } from '../source/nearest.ts';
import { argumentsOf, type Bases, type KnownTools, type Note } from '../source/note.ts';
import { placeOfTool } from './checkSources.ts';

/** Checks the tools against the requirements of model providers, the policy and the tasks. */
export function checkTools(parts: Parts, bases: Bases, known: KnownTools, note: Note): void {
  checkPolicyNames(parts, bases, known, note);
  for (const [name, at] of parts.scan.unexported)
    note(
      at,
      'warning',
      'tool/not-exported',
      `${name} is not a tool of the domain, because it is not exported.`,
      `Write \`export const ${name}\`, or remove it.`,
      fixOf(`Export ${name}`, { ...at, text: `export const ${name}` }),
    );
  // What a simulated tool takes is in its file: it is known before anything has run.
  const simulated = parts.simulated.map(({ value }) => describeSimulated(value));
  for (const tool of known.tools.size === 0 ? simulated : known.tools.values()) {
    const at = placeOfTool(parts, tool);
    if (!isToolName(tool.name)) {
      note(
        at,
        'error',
        'tool/bad-name',
        `${tool.name} is not a tool name that models accept.`,
        'Use at most 64 letters, digits, dashes and underscores.',
      );
    }
    const problem = schemaProblem(tool.parameters);
    if (problem !== null) noteSchema(at, tool, problem, note);
    if (tool.description.trim() === '')
      note(
        at,
        'warning',
        'tool/no-description',
        `${tool.name} has no description, so a model can only guess what it does.`,
        'Describe it in a sentence.',
      );
    if (problem === null) checkStrict(parts, tool, note);
    checkResult(parts, tool, note);
    checkPatterns(parts, tool, note);
  }
}

/** A result is checked only once a model has answered. */
function checkResult(parts: Parts, tool: Tool, note: Note): void {
  const { name } = tool;
  const declared = parts.simulated.find(({ value }) => value.name === name);
  const { simulation } = sourceOf(tool);
  if (!declared || !simulation) return;
  const schema = compileSchema(simulation.result as JsonObject);
  if (!('problem' in schema)) return;
  note(
    placeOf(declared, 'result'),
    'error',
    'tool/bad-schema',
    `The JSON Schema of the result of ${name} cannot be used: ${schema.problem}.`,
    'Correct it. Without `result`, any result fits.',
  );
}

/** A schema of a server is passed on to the model as it is. */
function noteSchema(at: Location, tool: Tool, problem: string, note: Note): void {
  const { name } = tool;
  if (sourceOf(tool).isForeign)
    note(
      at,
      'warning',
      'tool/unchecked-schema',
      `The arguments of ${name} are not checked before a call: its JSON Schema cannot be compiled (${problem}).`,
      'The schema is that of its server, which has to check them. Report it to the author of the server.',
    );
  else
    note(
      at,
      'error',
      'tool/bad-schema',
      `The JSON Schema of ${name} cannot be used: ${problem}.`,
      'Describe the arguments as an object, in JSON Schema.',
    );
}

/** A pattern that the linear-time engine cannot run is not checked, so the author learns that nothing checks it. */
function checkPatterns(parts: Parts, tool: Tool, note: Note): void {
  const declared = parts.simulated.find(({ value }) => value.name === tool.name);
  const { isForeign, simulation } = sourceOf(tool);
  const schemas = [
    ['parameters', tool.parameters],
    ['result', simulation?.result],
  ] as const;
  for (const [key, schema] of schemas)
    for (const { path, pattern, reason, isInvalid } of unsupportedPatterns(schema))
      note(
        declared ? placeOf(declared, key, ...path) : placeOfTool(parts, tool),
        isInvalid && !isForeign ? 'error' : 'warning',
        'tool/unsupported-pattern',
        `The pattern ${pattern} in the JSON Schema of ${tool.name} is not checked: ${reason}.`,
        isForeign
          ? 'The schema is that of its server, which has to check the value.'
          : 'Write it without backreferences, lookahead, lookbehind and counts above 1000, or check the value in the tool.',
      );
}

/** Reports schemas that some model providers refuse although JSON Schema allows them. */
function checkStrict(parts: Parts, tool: Tool, note: Note): void {
  const missing = strictProblems(tool.parameters);
  if (missing.length === 0) return;
  const declared = parts.simulated.find(({ value }) => value.name === tool.name);
  const names = argumentsOf(tool);
  const isPlain = missing.length === 1 && missing[0] === requiredMissing;
  const edit = declared?.places.insert([...declared.path, 'parameters'], `required: [${names.join(', ')}]`) ?? null;
  const { isForeign } = sourceOf(tool);
  note(
    declared ? placeOf(declared, 'parameters') : placeOfTool(parts, tool),
    isForeign ? 'info' : 'warning',
    'tool/strict-schema',
    `Strict providers refuse the JSON Schema of ${tool.name}: ${missing.join('; ')}.`,
    isForeign
      ? 'The schema is that of its server. Leave the tool out of `tools:` of the tasks if your provider refuses it.'
      : 'Declare the type of every argument, and list the required ones in `required`.',
    isPlain ? fixOf('Require every argument', edit) : undefined,
  );
}

/** A name in the policy that is almost the name of a tool, or that the policy says to call. */
function checkPolicyNames(parts: Parts, bases: Bases, known: KnownTools, note: Note): void {
  if (!known.complete || known.names.size === 0) return;
  const { policy, policyFile, policySource } = parts;
  const others = namesOfOthers(parts, bases, known);
  const isImport = Object.values(parts.file.value.environments).some(({ adapter }) => adapter !== undefined);
  const lines = (policySource?.text ?? '').split('\n');
  for (const block of policy.blocks) {
    for (const [index, line] of lines.slice(block.line - 1, block.endLine).entries()) {
      for (const match of line.matchAll(/(?<![\w#{-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b/g)) {
        const [name] = match;
        const row = block.line + index;
        const column = match.index + 1;
        const at = { file: policyFile, line: row, column, endLine: row, endColumn: column + name.length };
        if (known.declared.get(name)?.owner === 'user' && !isImport) noteUserTool(name, at, note);
        if (known.names.has(name) || others.has(name)) continue;
        const meant = name.length < 6 ? undefined : nearest(name, known.names);
        const isCalled =
          known.tools.size > 0 &&
          /\b(?:call|calls|calling|use|using|run|invoke|with|through|via|tool)\s+`?$/i.test(line.slice(0, match.index));
        if (meant === undefined && !isCalled) continue;
        const hint = meant === undefined ? `The tools are ${[...known.names].join(', ')}.` : `Did you mean "${meant}"?`;
        const fix = meant === undefined ? undefined : replacing(at, name, meant);
        note(at, 'warning', 'policy/unknown-tool', `The policy names ${name}, which is not a tool.`, hint, fix);
      }
    }
  }
}

/** The agent reads the policy and does not have the tools of the user. */
function noteUserTool(name: string, at: Location, note: Note): void {
  note(
    at,
    'warning',
    'policy/user-tool',
    `The policy names ${name}, which only the user can call: the agent does not have it, and the user does not know its name.`,
    'Say in words what the agent asks the user to do.',
  );
}

/** Words with underscores that are not tools: arguments, facts, and what is in the databases. */
function namesOfOthers({ file, tasks }: Parts, bases: Bases, { tools }: KnownTools): ReadonlySet<string> {
  const inTasks = tasks.flatMap(({ value: { user, actions } }) => [
    ...Object.keys(user.known),
    ...user.unknown,
    ...actions.flatMap((action) => Object.keys(action.arguments)),
  ]);
  const inSchemas = [...tools.values()].flatMap(({ parameters }) =>
    [...JSON.stringify(parameters).matchAll(/"(\w+)"/g)].map(([, word = '']) => word),
  );
  const inBases = [...wordsIn(bases.agent), ...wordsIn(bases.user)];
  return new Set([...Object.keys(file.value.lexicon.facts), ...inTasks, ...inSchemas, ...inBases]);
}
