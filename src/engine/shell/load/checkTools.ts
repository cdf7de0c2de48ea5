import { outsideSource } from '../../core/tool.ts';
import { startOf } from '../diagnostic.ts';
import { schemaProblem } from './arguments.ts';
import { placeOfTool } from './checkSources.ts';
import type { Parts } from './loadedDomain.ts';
import { nearest } from './nearest.ts';
import type { KnownTools, Note } from './note.ts';

/** What the tools say against providers of models, the policy and the tasks. */
export function checkTools(parts: Parts, known: KnownTools, note: Note): void {
  checkPolicyNames(parts, known, note);
  if (known.tools.size === 0) return;
  const used = new Set(parts.tasks.flatMap(({ value }) => value.actions.map(({ tool }) => tool)));
  checkSides(parts, known, note);
  for (const tool of known.tools.values()) {
    const at = placeOfTool(parts, tool);
    const isOwn = outsideSource(tool) === null;
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)) {
      note(
        at,
        'error',
        'tool/bad-name',
        `No model can be offered a tool named ${tool.name}.`,
        'Use at most 64 letters, digits, dashes and underscores.',
      );
    }
    const problem = schemaProblem(tool.parameters);
    if (problem !== null)
      note(
        at,
        'error',
        'tool/bad-schema',
        `The JSON Schema of ${tool.name} cannot be used: ${problem}.`,
        'Describe the arguments as an object.',
      );
    if (tool.description.trim() === '')
      note(
        at,
        'warning',
        'tool/no-description',
        `${tool.name} has no description, so a model can only guess what it does.`,
        'Describe it in a sentence.',
      );
    if (isOwn && !tool.generic && !tool.handsOff && parts.tasks.length > 0 && !used.has(tool.name)) {
      note(
        at,
        'info',
        'tool/unused',
        `No task has ${tool.name} among its gold actions.`,
        'Write a task that needs it, or mark it generic.',
      );
    }
  }
}

/** What dual control needs: a database of the user's side, and tools that each seat can use. */
function checkSides({ file, scan }: Parts, { tools }: KnownTools, note: Note): void {
  const hasUserSide = file.value.userDatabase !== undefined;
  if (scan.sync && !hasUserSide)
    note(
      scan.sync,
      'warning',
      'tool/sync-one-sided',
      'sync has nothing to keep in step: the domain has no database of the user.',
      'Name one in domain.yaml: userDatabase: user.json.',
    );
  for (const tool of tools.values()) {
    if (tool.owner !== 'user') continue;
    const at = scan.tools.get(tool.name) ?? startOf(file.file);
    if (tool.handsOff)
      note(
        at,
        'error',
        'tool/user-hands-off',
        `${tool.name} belongs to the user and hands off, but only the agent can hand the conversation over.`,
        'Take `handsOff` out, or let the agent own it.',
      );
    if (tool.effect === 'write' && !hasUserSide)
      note(
        at,
        'error',
        'tool/no-user-database',
        `${tool.name} writes to the database of the user, and the domain has none.`,
        'Name one in domain.yaml: userDatabase: user.json.',
      );
  }
}

/** A name in code marks in the policy that is almost the name of a tool, or is called like one. */
function checkPolicyNames({ policy, policyFile }: Parts, known: KnownTools, note: Note): void {
  if (!known.complete || known.names.size === 0) return;
  for (const block of policy.blocks) {
    for (const [, name = ''] of block.text.matchAll(/\b([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\b/g)) {
      if (known.names.has(name)) continue;
      const meant = nearest(name, known.names);
      if (meant === undefined || name.length < 6 || isArgument(name, known)) continue;
      note(
        { ...block, file: policyFile },
        'warning',
        'policy/unknown-tool',
        `The policy names ${name}, which is no tool.`,
        `Did you mean ${meant}?`,
      );
    }
  }
}

const isArgument = (name: string, { tools }: KnownTools) =>
  [...tools.values()].some(({ parameters }) => JSON.stringify(parameters).includes(`"${name}"`));
