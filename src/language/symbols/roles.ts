import { isExpression } from '../../engine/core/rules/confirmed.ts';
import type { Path } from '../../engine/core/values/json.ts';
import type { TextKind } from '../../engine/shell/load/loadedDomain.ts';
import type { YamlScalar } from './yamlText.ts';

/**
 * The kinds of named things in a domain. Phrases are a list of them. A field is a place of the database for any row; a
 * row is one row of a table.
 */
export type SymbolKind =
  | 'tool'
  | 'rule'
  | 'persona'
  | 'task'
  | 'verifier'
  | 'fact'
  | 'phrases'
  | 'argument'
  | 'field'
  | 'row';

/** The role of a place in a YAML file. */
export type Role =
  | {
      readonly type: 'name';
      readonly kind: Exclude<SymbolKind, 'argument' | 'field' | 'row'>;
      readonly declares: boolean;
    }
  /** An argument of the call whose tool is next to the map of arguments. */
  | { readonly type: 'argument' }
  | { readonly type: 'argumentName' }
  /** The name of an argument, or an expression. */
  | { readonly type: 'named' }
  /** The name that a tool has on its MCP server. */
  | { readonly type: 'serverTool' }
  | { readonly type: 'expression' }
  /** A sentence of the lexicon about a call: `{order_id}` in it means an argument. */
  | { readonly type: 'sentence' }
  /** A place of a database in one text, `orders.W1.status`. */
  | { readonly type: 'place'; readonly side: 'beside' | 'agent' }
  /** One part of a place of a database that is written as a list. */
  | { readonly type: 'step' }
  /** A file of the domain. */
  | { readonly type: 'file' };

/** The kinds of files that are YAML. */
export type YamlKind = Extract<TextKind, 'domain' | 'rules' | 'phrases' | 'persona' | 'task' | 'tool'>;

export function isYaml(kind: TextKind): kind is YamlKind {
  return Object.hasOwn(table, kind);
}

const names = (kind: Exclude<SymbolKind, 'argument' | 'field' | 'row'>): Role => ({
  type: 'name',
  kind,
  declares: false,
});
const declares = (kind: Exclude<SymbolKind, 'argument' | 'field' | 'row'>): Role => ({
  type: 'name',
  kind,
  declares: true,
});
const argument: Role = { type: 'argument' };
const argumentName = { type: 'argumentName' } as const;
const named: Role = { type: 'named' };
const expression = { type: 'expression' } as const;
const sentence: Role = { type: 'sentence' };
const step: Role = { type: 'step' };
const file: Role = { type: 'file' };
const place = (side: 'beside' | 'agent'): Role => ({ type: 'place', side });
const tool = names('tool');

const call = (path: string): Readonly<Record<string, Role>> => ({
  [`${path}.tool`]: tool,
  [`${path}.arguments.*:key`]: argument,
});

/** By the path from the item of a file; `*` is any key or number, and `:key` the key itself in place of its value. */
const table: Readonly<Record<YamlKind, Readonly<Record<string, Role>>>> = {
  domain: {
    'lexicon.facts.*:key': declares('fact'),
    'lexicon.tools.*:key': tool,
    'lexicon.tools.*.propose.*': sentence,
    'lexicon.tools.*.done.*': sentence,
    'lexicon.tools.*.instruct.*': sentence,
    'lexicon.tools.*.tell.*': sentence,
    policy: file,
    rules: file,
    phrases: file,
    tools: file,
    pythonTools: file,
    simulatedTools: file,
    personas: file,
    tasks: file,
    database: file,
    userDatabase: file,
    'environments.*.file': file,
    'mcpServers.*.rename.*:key': { type: 'serverTool' },
    'mcpServers.*.rename.*': declares('tool'),
    'mcpServers.*.writes.*': tool,
    'mcpServers.*.idempotent.*': tool,
    'mcpServers.*.snapshot.tool': tool,
    'mcpServers.*.restore.tool': tool,
    'mcpServers.*.reader.tool': tool,
    'mcpServers.*.tools.*:key': tool,
    'environments.*.tools.*:key': tool,
  },
  rules: {
    rule: names('rule'),
    'tools.*': tool,
    'require.*': tool,
    'before.*': tool,
    'after.*': tool,
    'same.*': argumentName,
    'names.*': named,
    when: expression,
    condition: expression,
    onlyWhen: expression,
    always: expression,
  },
  phrases: { '*:key': declares('phrases') },
  persona: { id: declares('persona') },
  task: {
    id: declares('task'),
    persona: names('persona'),
    under: names('persona'),
    'user.known.*:key': names('fact'),
    'user.unknown.*': names('fact'),
    'user.change.known.*:key': names('fact'),
    'state.*.path.*': step,
    'faults.*.tool': tool,
    ...call('actions.*'),
    ...call('receipts.*'),
    'receipts.*.when': expression,
    ...call('assertions.*.call'),
    'assertions.*.path': place('beside'),
    'assertions.*.that': expression,
    ...call('user.script.*.*'),
    ...call('script.*.*'),
    ...call('milestones.*.*.*'),
    'tools.*': tool,
    'laterTools.*.tools.*': tool,
    'verifiers.*': names('verifier'),
  },
  tool: { name: declares('tool'), 'reads.*': place('agent'), 'writes.*': place('agent') },
};

type Branch = { readonly below: Map<string, Branch>; value?: Role; key?: Role };

const trees = new Map<YamlKind, Branch>();

function treeOf(kind: YamlKind): Branch {
  const known = trees.get(kind);
  if (known) return known;
  const root: Branch = { below: new Map() };
  for (const [pattern, role] of Object.entries(table[kind])) {
    const [path = '', key] = pattern.split(':');
    let branch = root;
    for (const part of path.split('.')) {
      const next: Branch = branch.below.get(part) ?? { below: new Map() };
      branch.below.set(part, next);
      branch = next;
    }
    branch[key === 'key' ? 'key' : 'value'] = role;
  }
  trees.set(kind, root);
  return root;
}

/** The path without what leads to the item of a list of a file: its number, and the `rules` above it. */
export function pathInItem(kind: YamlKind, path: Path): Path {
  const own = kind === 'rules' && path[0] === 'rules' ? path.slice(1) : path;
  return typeof own[0] === 'number' ? own.slice(1) : own;
}

/** Returns what is at a path of a file; undefined for what has no name. */
export function roleAt(kind: YamlKind, path: Path, isKey: boolean): Role | undefined {
  let branch: Branch | undefined = treeOf(kind);
  for (const part of pathInItem(kind, path)) branch = branch?.below.get(String(part)) ?? branch?.below.get('*');
  return branch?.[isKey ? 'key' : 'value'];
}

/** Returns what a key or value of a file is. An entry that can be an argument or an expression is one of the two. */
export function roleOf(
  kind: YamlKind,
  { path, isKey, value }: YamlScalar,
): Exclude<Role, { type: 'named' }> | undefined {
  const role = roleAt(kind, path, isKey);
  return role?.type !== 'named' ? role : isExpression(String(value)) ? expression : argumentName;
}
