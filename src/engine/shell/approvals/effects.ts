import { existsSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type DomainFile, type StdioServer, serverSetUpSchema } from '../../core/domain/domain.ts';
import { type AgentSeat, namedModel } from '../../core/domain/seatSpec.ts';
import type { ToolOrigin } from '../../core/domain/sources/sources.ts';
import type { Task } from '../../core/domain/task.ts';
import { contentHash } from '../../core/values/hash.ts';
import { canonicalJson, type JsonObject } from '../../core/values/json.ts';
import { withTexts } from '../../core/values/texts.ts';
import { variablesIn } from '../keys/placeholders.ts';
import { readDomainFile, readTasks } from '../load/domainFiles.ts';
import { behindShim } from '../processes/machineProgram.ts';
import { findSandbox } from '../processes/sandbox.ts';
import { codeHashOf } from './codeHash.ts';

/**
 * Something that a domain or an agent's file reaches outside of the sandbox. Texts are as the file has them:
 * placeholders are not filled, so that the same file has the same effects on every machine.
 */
export type Effect = {
  /** The cause of the effect, such as `MCP server "shop"`. */
  readonly by: string;
} & (
  | {
      readonly type: 'command';
      readonly command: string;
      readonly args: readonly string[];
      readonly cwd: string | null;
      readonly env: Readonly<Record<string, string>>;
      /** The tasks whose `setUp` has these arguments. Another task with the same ones is not another effect. */
      readonly tasks?: readonly string[];
      /** The folders whose files its `${instanceFolder}` can have: those of the server and of its tasks. */
      readonly starts?: readonly string[];
    }
  | { readonly type: 'address'; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: 'interpreter'; readonly command: string }
  /** The settings of a bridge adapter: the sandbox lets it read the paths among them. */
  | { readonly type: 'settings'; readonly adapter: string; readonly settings: Readonly<Record<string, string>> }
  /** A call of a tool that may change something where the server keeps its state, made up to `most` times. */
  | { readonly type: 'call'; readonly tool: string; readonly arguments: JsonObject; readonly most: number }
  | { readonly type: 'network' }
  | { readonly type: 'unconfined' }
);

/** The object of an approval: effects, with what has them and its location. */
export type Effects = {
  /** The name of a domain, or of an agent. */
  readonly name: string;
  /** The domain's folder, or the agent's file. */
  readonly path: string;
  readonly effects: readonly Effect[];
  /** The files and folders that domain.yaml names as code, or as what a server starts with. */
  readonly code?: readonly string[];
  /** A way to do the same without these effects, as text after "or". */
  readonly without?: string;
};

type TaskOfEffects = Pick<Task, 'id' | 'setUp'>;

/** The parts of a domain that decide what its effects are. */
export type EffectDomain = {
  readonly folder: string;
  readonly file: DomainFile;
  readonly parts: { readonly tasks: readonly { readonly value: TaskOfEffects }[] };
};

/**
 * Returns the effects of a domain; a domain that only has sandboxed code has none.
 * @param isConfined whether its code runs in a sandbox; by default, whether this machine has one
 */
export function effectsOfDomain(
  { folder, file, parts }: EffectDomain,
  isConfined: boolean = findSandbox().name !== null,
): Effects {
  const effects = [
    ...Object.values(sourceApprovals).flatMap(({ effectsOf }) =>
      effectsOf(
        file,
        parts.tasks.map(({ value }) => value),
      ),
    ),
    ...modelEffects(file),
    ...(file.network ? [{ type: 'network', by: 'code of the domain' } as const] : []),
    ...(!isConfined && hasCode(folder, file) ? [unconfined] : []),
  ];
  return { name: file.name, path: folder, effects, code: codeNamedIn(file) };
}

/** Finds the effects of one kind of tool source that a person approves, and the files in which its code is. */
type SourceApproval = {
  readonly effectsOf: (file: DomainFile, tasks: readonly TaskOfEffects[]) => readonly Effect[];
  readonly filesOf: (file: DomainFile) => readonly string[];
};

/** The approvals of each kind of tool source, in the order in which a person is shown them. */
const sourceApprovals: Readonly<Record<ToolOrigin['type'], SourceApproval>> = {
  mcp: {
    effectsOf: (file, tasks) => [...serverEffects(file, tasks), ...taskEffects(file, tasks)],
    filesOf: ({ mcpServers }) =>
      Object.values(mcpServers).flatMap((server) => (server.type === 'stdio' ? (server.files ?? []) : [])),
  },
  python: {
    effectsOf: ({ python, pythonTools }) => interpreterEffects(pythonTools, python),
    filesOf: ({ pythonTools }) => [pythonTools],
  },
  environment: {
    effectsOf: environmentEffects,
    filesOf: ({ environments }) => Object.values(environments).map(({ file = 'environment.py' }) => file),
  },
  code: { effectsOf: () => [], filesOf: ({ tools }) => [tools] },
  // The model of the simulator is approved with the other models.
  simulated: { effectsOf: () => [], filesOf: () => [] },
};

const codeNamedIn = (file: DomainFile): readonly string[] =>
  Object.values(sourceApprovals)
    .flatMap(({ filesOf }) => filesOf(file))
    .toSorted();

/** Returns the effects of the domain in a folder; null where its domain.yaml cannot be read. */
export function effectsIn(folder: string, isConfined?: boolean): Effects | null {
  const root = resolve(folder);
  const { file, source, namesFiles } = readDomainFile(root, undefined, []);
  const hasPrograms = Object.values(file.value.mcpServers).some(({ type }) => type === 'stdio');
  // Only tasks of a domain that starts servers have effects; a domain may have thousands of tasks.
  const tasks = hasPrograms
    ? readTasks({ folder: root, overlay: undefined, diagnostics: [], file, namesFiles }).items
    : [];
  return source && effectsOfDomain({ folder: root, file: file.value, parts: { tasks } }, isConfined);
}

/** Returns the effects of an agent's file. The person who starts the rollout chooses the model that is lent to it. */
export function effectsOfAgent({ name, file, program }: AgentSeat): Effects {
  const by = `agent "${name}"`;
  if (program.type === 'service') {
    const { url, headers } = program;
    return { name, path: file, effects: [{ type: 'address', by, url, headers }] };
  }
  const { command, args, env } = program;
  const cwd = relative(dirname(file), program.cwd) || null;
  return { name, path: file, effects: [{ type: 'command', by, command, args, cwd, env }] };
}

/**
 * Returns the effects of interpreters of the trainer that a file names, by their keys. What a person typed as an option
 * or set in the settings of the machine is not among them.
 */
export function effectsOfInterpreters(path: string, named: Readonly<Record<string, readonly string[]>>): Effects {
  const effects = Object.entries(named).flatMap(([key, [command, ...args]]): readonly Effect[] =>
    command === undefined ? [] : [{ type: 'command', by: `the key ${key}`, command, args, cwd: null, env: {} }],
  );
  return { name: basename(path), path, effects };
}

/** Returns the effects of a training target that a file of a run or of an experiment names, with its interpreter. */
export function effectsOfTarget(path: string, url: string, python: readonly string[] = []): Effects {
  const { name, effects } = effectsOfInterpreters(path, { python });
  return { name, path, effects: [{ type: 'address', by: 'training', url, headers: {} }, ...effects] };
}

/** The effect of a domain's code where there is no sandbox. */
export const unconfined: Effect = { type: 'unconfined', by: 'code of the domain' };

/** Whether the effect is one of the domain's own code, rather than of what it starts or reaches. */
export const isOfCode = ({ type }: Effect): boolean => type === 'network' || type === 'unconfined';

/** Returns the hash of effects in canonical form. The order of keys and of effects does not matter. */
export function hashOfEffects({ effects }: Pick<Effects, 'effects'>): string {
  return contentHash(effects.map(hashOfEffect).toSorted());
}

/**
 * Returns the hash of the files that run when these effects happen; null for an agent's file, and where the files are
 * not known by their content.
 */
export function hashOfCode(
  { path, effects, code = [] }: Effects,
  absent: ReadonlySet<string> = new Set(),
): string | null {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return null;
  const texts = [...code, ...effects.flatMap((effect) => (effect.type === 'command' ? (effect.starts ?? []) : []))];
  withTexts(
    // Without the key `tasks`, which would name the folder of the tasks.
    effects.map((effect) => withoutOrigins({ ...effect, by: '' })),
    (text) => {
      texts.push(text);
      return text;
    },
  );
  const files = codeHashOf(path, texts, absent);
  return files && contentHash([...code, files]);
}

/** Returns the hash of one effect. The tasks that have it do not matter, and files have a hash by their content. */
export function hashOfEffect(effect: Effect): string {
  return contentHash(withoutOrigins(effect));
}

function withoutOrigins(effect: Effect) {
  const { tasks: _, starts: __, ...rest } = { tasks: undefined, starts: undefined, ...effect };
  return rest;
}

/** Describes each effect in one line. Nothing in it can look like something else: hidden characters are escaped. */
export function describeEffects({ effects }: Pick<Effects, 'effects'>): readonly string[] {
  return effects.map((effect) => {
    const variables = [...new Set(variablesIn(JSON.stringify(effect)))];
    const given = variables.length > 0 ? `, with your environment variables ${variables.join(', ')}` : '';
    return `${visible(effect.by)}${tasksOf(effect)} ${deedOf(effect)}${given}`;
  });
}

/** The tasks that are named in a list; the rest are counted. */
const mostTasks = 3;

function tasksOf(effect: Effect): string {
  const { tasks = [] } = effect.type === 'command' ? effect : {};
  if (tasks.length === 0) return '';
  const named = tasks.slice(0, mostTasks).map((id) => visible(JSON.stringify(id)));
  const more = tasks.length > named.length ? [`${tasks.length - named.length} more`] : [];
  return ` for ${tasks.length === 1 ? 'task' : 'tasks'} ${[...named, ...more].join(', ')}`;
}

function deedOf(effect: Effect): string {
  switch (effect.type) {
    case 'command': {
      const { command, args, cwd, env } = effect;
      const set = Object.entries(env).map(([name, value]) => `${word(name)}=${word(value)}`);
      const place = cwd === null ? '' : ` in ${word(cwd)}`;
      return `starts ${[...set, ...[command, ...args].map(word)].join(' ')}${place}${shimOf(command, env)}`;
    }
    case 'address': {
      const headers = Object.entries(effect.headers).map(([name, value]) => `${name}: ${value}`);
      return `uses ${word(effect.url)}${headers.length > 0 ? ` with the headers ${headers.map(word).join(', ')}` : ''}`;
    }
    case 'call':
      return `is called ${effect.most === 1 ? 'at most once' : `up to ${effect.most} times`}: ${word(effect.tool)} ${visible(canonicalJson(effect.arguments))}`;
    case 'interpreter':
      return `runs with the Python interpreter ${word(effect.command)}${shimOf(effect.command)}`;
    case 'settings': {
      const settings = Object.entries(effect.settings).map(([name, value]) => `${word(name)}=${word(value)}`);
      return `reads what the adapter ${effect.adapter} is given: ${settings.join(' ')}`;
    }
    case 'network':
      return 'uses the network of this machine';
    case 'unconfined':
      return 'runs without a sandbox if the machine has none';
    default:
      return effect satisfies never;
  }
}

/** Describes which program a command starts that the PATH leads to by a version manager. */
function shimOf(command: string, env: Readonly<Record<string, string>> = {}): string {
  // A command with its own PATH is looked up there.
  const program = 'PATH' in env ? null : behindShim(command);
  return program === null ? '' : `, where ${word(command)} is ${word(program)}`;
}

/** Returns what starts MCP servers or reaches them. */
export function serverEffects(
  { mcpServers }: Pick<DomainFile, 'mcpServers'>,
  tasks: readonly TaskOfEffects[] = [],
): readonly Effect[] {
  return Object.entries(mcpServers).map(([name, server]): Effect => {
    const by = `MCP server "${name}"`;
    if (server.type === 'http') return { type: 'address', by, url: server.url, headers: server.headers };
    const { command, args, env, cwd = null } = server;
    return { type: 'command', by, command, args, cwd, env, ...startsOf(name, server, tasks) };
  });
}

function startsOf(name: string, { files }: StdioServer, tasks: readonly TaskOfEffects[]) {
  const set = tasks.flatMap(({ setUp = {} }) =>
    Object.hasOwn(setUp, name) ? (serverSetUpSchema.safeParse(setUp[name]).data?.files ?? []) : [],
  );
  const starts = [...new Set([...(files === undefined ? [] : [files]), ...set])];
  return starts.length > 0 ? { starts } : {};
}

/** Returns what tasks start in place of the servers that domain.yaml declares: each command once, with its tasks. */
export function taskEffects(
  { mcpServers }: Pick<DomainFile, 'mcpServers'>,
  tasks: readonly TaskOfEffects[],
): readonly Effect[] {
  const found = new Map<string, Effect & { readonly type: 'command' }>();
  for (const { id, setUp = {} } of tasks)
    for (const [name, data] of Object.entries(setUp)) {
      const server = Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined;
      const args = serverSetUpSchema.safeParse(data).data?.args;
      if (server?.type !== 'stdio' || args === undefined) continue;
      const key = canonicalJson([name, args]);
      if (key === canonicalJson([name, server.args])) continue;
      const { command, env, cwd = null } = server;
      const ids = found.get(key)?.tasks ?? [];
      const starts = startsOf(name, server, tasks);
      found.set(key, {
        type: 'command',
        by: `MCP server "${name}"`,
        command,
        args,
        cwd,
        env,
        tasks: [...ids, id],
        ...starts,
      });
    }
  return [...found.values()];
}

const interpreterEffects = (by: string, command: string | undefined): readonly Effect[] =>
  command === undefined ? [] : [{ type: 'interpreter', by, command }];

function environmentEffects({ environments }: DomainFile): readonly Effect[] {
  return Object.entries(environments).flatMap(([name, { python, adapter, settings }]): readonly Effect[] => {
    const by = `environment "${name}"`;
    return [
      ...interpreterEffects(by, python),
      ...(adapter === undefined ? [] : [{ type: 'settings' as const, by, adapter, settings }]),
    ];
  });
}

/** Models at addresses that domain.yaml names; what is asked of the others goes where the user's own environment says. */
function modelEffects({ agent, user, simulator, models = {} }: DomainFile): readonly Effect[] {
  const users = typeof user === 'string' ? { user } : { 'user in training': user.train, user: user.evaluate };
  const seats = { agent, ...users, 'simulator of tools': simulator ?? '' };
  const settings = { agent: models.agent, 'simulator of tools': models.tools };
  return Object.entries(seats).flatMap(([seat, text]): readonly Effect[] => {
    const url = namedModel(text)?.address ?? null;
    const { headers = {} } = (seat in users ? models.user : settings[seat as keyof typeof settings]) ?? {};
    return url === null ? [] : [{ type: 'address', by: `model of the ${seat}`, url, headers }];
  });
}

function hasCode(folder: string, { tools, pythonTools, environments }: DomainFile): boolean {
  const files = [tools, pythonTools, 'verifiers.ts'];
  return Object.keys(environments).length > 0 || files.some((file) => existsSync(join(folder, file)));
}

const word = (text: string) => (/^[\w@%+=:,./~${}-]+$/.test(text) ? text : visible(JSON.stringify(text)));

/** Control characters, marks that reorder text, and characters that show nothing or look like a space. */
const hidden = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]|(?! )\p{Zs}/gu;

/** Returns a text in one line in which nothing can look like something else. */
export const visible = (text: string) =>
  text.replace(hidden, (found) => {
    const code = (found.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });
