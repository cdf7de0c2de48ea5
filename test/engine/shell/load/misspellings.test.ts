import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Tool } from '../../../../src/engine/core/domain/tool.ts';
import { parseExpression } from '../../../../src/engine/core/expression/expression.ts';
import type { Expression } from '../../../../src/engine/core/expression/syntax.ts';
import { type Random, randomStream } from '../../../../src/engine/core/values/random.ts';
import { describeCodeTools, describeExternalTools } from '../../../../src/engine/shell/describe.ts';
import { completeDomain, type LoadedDomain, loadDomain } from '../../../../src/engine/shell/domain/loadDomain.ts';
import type { Diagnostic } from '../../../../src/engine/shell/files/diagnostic.ts';
import { hasExternalTools } from '../../../../src/engine/shell/load/loadedDomain.ts';
import { sampleDomains } from '../../../support/sampleDomains.ts';
import { isFullSuite } from '../../../support/suite.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { rehearsal } from '../../../support/terminal.ts';

const seed = 'misspellings';
const count = isFullSuite ? 270 : 27;
const least = isFullSuite
  ? { field: 25, tool: 20, argument: 20, value: 20, fact: 20, knownValue: 20, unknown: 10, word: 20, phrase: 10 }
  : { field: 2, tool: 2, argument: 2, value: 2, fact: 2, knownValue: 2, unknown: 1, word: 2, phrase: 2 };

type Kind = keyof typeof least;
/** A word of a file that must be spelled exactly: the place of its text in the YAML, and of the word in that text. */
type Site = {
  readonly domain: string;
  readonly file: string;
  readonly path: readonly (string | number)[];
  readonly isKey: boolean;
  readonly kind: Kind;
  readonly word: string;
  readonly at: number;
};
type Subject = {
  readonly folder: string;
  readonly tools: readonly Tool[];
  readonly external: readonly Tool[];
  readonly before: readonly Diagnostic[];
  readonly sites: readonly Site[];
};

const inFixtures = (name: string) => fileURLToPath(new URL(`../../../fixtures/${name}`, import.meta.url));
const subjects = new Map<string, Subject>();

beforeAll(async () => {
  const out = temporaryFolder('rehearsal-misspellings');
  await rehearsal('import', 'tau2', '--from', inFixtures('tau2'), '--out', join(out, 'tau2'));
  await rehearsal('import', 'tau1', '--from', inFixtures('tau1'), '--out', join(out, 'tau1'));
  const folders = [
    ...sampleDomains.map((name) => join(import.meta.dirname, '../../../../domains', name)),
    join(out, 'tau2/mock'),
    join(out, 'tau1/retail'),
  ];
  for (const folder of folders) {
    const loaded = loadDomain(folder);
    const tools = loaded.toolsFile === null ? [] : await describeCodeTools(loaded);
    const external = hasExternalTools(loaded) ? await describeExternalTools(loaded) : [];
    const complete = completeDomain(loaded, tools, external);
    const before = complete.diagnostics;
    subjects.set(folder, { folder, tools, external, before, sites: sitesOf(complete) });
  }
}, 120_000);

/** Returns the words of rules and tasks to misspell. Values are included only if the domain has them elsewhere. */
function sitesOf(loaded: LoadedDomain): readonly Site[] {
  const { folder, domain, parts, world } = loaded;
  const vocabulary = vocabularyOf(loaded);
  const names = new Set(domain.tools.map(({ name }) => name));
  const given = parts.tasks.map(({ value: { actions, user } }) => [actions.map((each) => each.arguments), user.known]);
  const isKnown = knownValues(domain.tools, [world.agent, world.user], given);
  const files = new Set([...parts.rules, ...parts.tasks].map(({ file }) => file));
  return [...files].flatMap((file) => {
    const root: unknown = parse(readFileSync(file, 'utf8'));
    const site = (path: Site['path'], kind: Kind, word: string, at = 0, isKey = false): Site => ({
      domain: folder,
      file,
      path,
      isKey,
      kind,
      word,
      at,
    });
    const expression = (path: Site['path'], text: unknown) => {
      const parsed = typeof text === 'string' ? parseExpression(text) : null;
      if (parsed === null || 'problem' in parsed) return [];
      return wordsOf(parsed.expression, names).flatMap(({ kind, word, at }) =>
        kind === 'value' && !isKnown(word, 1) ? [] : [site(path, kind, word, at)],
      );
    };
    const items = (Array.isArray(root) ? root : [root]) as readonly Readonly<Record<string, unknown>>[];
    return items.flatMap((item, index) => {
      const own = Array.isArray(root) ? [index] : [];
      const conditions = ['when', 'condition', 'onlyWhen', 'always'].flatMap((key) =>
        expression([...own, key], item[key]),
      );
      const lists = ['tools', 'require'].flatMap((key) =>
        Array.isArray(item[key]) ? item[key].map((word, nth) => site([...own, key, nth], 'tool', String(word))) : [],
      );
      if (item['rule'] !== undefined) return [...conditions, ...lists];
      const actions = (item['actions'] ?? []) as readonly { tool: string; arguments?: Record<string, unknown> }[];
      const ofUser = userWords(item, vocabulary).map(({ path, kind, word, at, isKey }) =>
        site([...own, ...path], kind, word, at, isKey),
      );
      const ofActions = actions.flatMap(({ tool, arguments: values = {} }, nth) => [
        site([...own, 'actions', nth, 'tool'], 'tool', tool),
        ...Object.entries(values).flatMap(([name, value]) => [
          site([...own, 'actions', nth, 'arguments', name], 'argument', name, 0, true),
          ...(typeof value === 'string' && isKnown(value, 2)
            ? [site([...own, 'actions', nth, 'arguments', name], 'value', value)]
            : []),
        ]),
      ]);
      return [...ofUser, ...ofActions];
    });
  });
}

type Vocabulary = {
  readonly isArgument: (name: string) => boolean;
  /** Whether a row, or another task, has a value under this name. */
  readonly isValueOf: (name: string, value: string) => boolean;
  readonly isOfRow: (word: string) => boolean;
  readonly isOfDomain: (word: string) => boolean;
};

type Told = {
  readonly known?: Readonly<Record<string, unknown>>;
  readonly unknown?: readonly string[];
  readonly goal?: string;
  readonly opening?: string;
  readonly change?: { readonly say: string };
};

/** The facts of a task's user, and the words that it and the agent say. */
function userWords(
  item: Readonly<Record<string, unknown>>,
  { isArgument, isValueOf, isOfRow, isOfDomain }: Vocabulary,
): readonly Omit<Site, 'domain' | 'file'>[] {
  const { known = {}, unknown = [], goal, opening, change } = (item['user'] ?? {}) as Told;
  const within = (text: string | undefined, kind: Kind, path: Site['path'], isMeant: (word: string) => boolean) =>
    [...(text ?? '').matchAll(/\p{L}{6,}/gu)].flatMap(({ 0: word, index: at }) =>
      isMeant(word) ? [{ path, kind, word, at, isKey: false }] : [],
    );
  const facts = Object.entries(known).flatMap(([name, value]) => {
    const own = { path: ['user', 'known', name], at: 0 };
    return [
      ...(isArgument(name) ? [{ ...own, kind: 'fact', word: name, isKey: true } as const] : []),
      ...(typeof value === 'string' && isValueOf(name, value)
        ? [{ ...own, kind: 'knownValue', word: value, isKey: false } as const]
        : []),
    ];
  });
  const unknownFacts = unknown.map(
    (word, at) => ({ path: ['user', 'unknown', at], kind: 'unknown', word, at: 0, isKey: false }) as const,
  );
  const communicate = (item['communicate'] ?? []) as readonly string[];
  return [
    ...facts,
    ...unknownFacts,
    ...within(goal, 'word', ['user', 'goal'], isOfRow),
    ...within(opening, 'word', ['user', 'opening'], isOfRow),
    ...within(change?.say, 'word', ['user', 'change', 'say'], isOfRow),
    ...communicate.flatMap((text, at) => within(text, 'phrase', ['communicate', at], isOfDomain)),
  ];
}

/** Returns what the rest of a domain has. */
function vocabularyOf({ domain, parts, world }: LoadedDomain): Vocabulary {
  const args = new Set(domain.tools.flatMap(({ parameters }) => Object.keys(parameters['properties'] ?? {})));
  const values = new Map<string, number>();
  const names = new Set<string>();
  const add = (name: string, value: unknown) => {
    if (typeof value === 'string') values.set(`${name} ${value}`, (values.get(`${name} ${value}`) ?? 0) + 1);
  };
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      // One row is enough, and two tasks are.
      for (const _ of [0, 1]) add(key, each);
      if (/(?:^|_)(?:title|name)$/.test(key) && typeof each === 'string')
        for (const [word] of each.matchAll(/\p{L}{6,}/gu)) names.add(word);
      visit(each);
    }
  };
  visit([world.agent, world.user]);
  for (const { value } of parts.tasks) for (const [name, each] of Object.entries(value.user.known)) add(name, each);
  return {
    isArgument: (name) => args.has(name),
    isValueOf: (name, value) => value.length > 4 && !/\d/.test(value) && (values.get(`${name} ${value}`) ?? 0) > 1,
    isOfRow: (word) => names.has(word),
    isOfDomain: (word) => parts.policy.policy.text.includes(word),
  };
}

type Word = Pick<Site, 'kind' | 'word' | 'at'>;

function wordsOf(expression: Expression, tools: ReadonlySet<string>): readonly Word[] {
  const value = (each: Expression): readonly Word[] =>
    each.type === 'literal' && typeof each.value === 'string'
      ? [{ kind: tools.has(each.value) ? 'tool' : 'value', word: each.value, at: each.at }]
      : [];
  switch (expression.type) {
    case 'member': {
      const { of, key } = expression;
      const isArgument = (of.type === 'name' && of.name === 'args') || isField(of, 'args');
      const kind = isArgument ? 'argument' : 'field';
      const own = key.type === 'literal' ? value(key).map((each) => ({ ...each, kind }) as const) : wordsOf(key, tools);
      return [...wordsOf(of, tools), ...own];
    }
    case 'list':
      return expression.items.flatMap((item) => wordsOf(item, tools));
    case 'not':
    case 'minus':
    case 'element':
      return wordsOf(expression.of, tools);
    case 'binary': {
      const { operator, left, right } = expression;
      const sides = [...wordsOf(left, tools), ...wordsOf(right, tools)];
      const isCompared = (operator === '==' || operator === 'in') && left.type === 'member';
      return isCompared ? [...sides, ...(right.type === 'list' ? right.items : [right]).flatMap(value)] : sides;
    }
    case 'call':
      return [
        ...expression.inputs.flatMap((input) => wordsOf(input, tools)),
        ...(expression.name === 'last' ? expression.inputs.flatMap(value) : []),
      ];
    default:
      return [];
  }
}

const isField = (expression: Expression, name: string) =>
  expression.type === 'member' && expression.key.type === 'literal' && expression.key.value === name;

/** Returns a function that reports whether a text appears at least a number of times in schemas and data. */
function knownValues(tools: readonly Tool[], ...data: readonly unknown[]): (text: string, times: number) => boolean {
  const counts = new Map<string, number>();
  const visit = (value: unknown): void => {
    if (typeof value === 'string') counts.set(value, (counts.get(value) ?? 0) + 1);
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit([tools.map(({ parameters }) => parameters), data]);
  return (text, times) =>
    text.length > 4 && !/\d/.test(text) && text.split(' ').length < 5 && (counts.get(text) ?? 0) >= times;
}

/** Returns the word with one typing error. */
function misspelt(word: string, random: Random): string {
  const at = 1 + random.integer(Math.max(1, word.length - 2));
  const [before, here, after] = [word.slice(0, at), word.charAt(at), word.slice(at + 1)];
  const slips = [
    `${before}${after}`,
    `${before}${here}${here}${after}`,
    `${before}${after.charAt(0)}${here}${after.slice(1)}`,
    `${before}x${after}`,
  ];
  return slips.filter((slip) => slip !== word)[random.integer(3)] ?? `${word}x`;
}

function draw(): readonly (Site & { readonly wrong: string })[] {
  const random = randomStream(seed, 'draw');
  const sites = [...subjects.values()].flatMap((subject) => subject.sites);
  const words = new Set(sites.map(({ word }) => word));
  const kinds = Object.keys(least) as readonly Kind[];
  const drawn = new Map<string, Site & { readonly wrong: string }>();
  for (let turn = 0; drawn.size < count; turn++) {
    const kind = kinds[turn % kinds.length];
    const own = sites.filter((site) => site.kind === kind && site.word.length > 2);
    const folder = random.pick([...new Set(own.map((site) => site.domain))]);
    const site = random.pick(own.filter((each) => each.domain === folder));
    const wrong = misspelt(site.word, random);
    // A misspelling that is another word of the domains could be meant.
    if (!words.has(wrong)) drawn.set(`${site.file} ${site.path.join(' ')} ${site.at} ${wrong}`, { ...site, wrong });
  }
  return [...drawn.values()];
}

/** Returns the findings that a misspelling adds, and the text of the file with it. */
function findingsOf(site: Site & { readonly wrong: string }) {
  const { folder, tools, external, before } = subjects.get(site.domain) as Subject;
  const root: unknown = parse(readFileSync(site.file, 'utf8'));
  const parent = site.path.slice(0, -1).reduce((value, key) => (value as Record<string, unknown>)[key] as never, root);
  const holder = parent as Record<string, unknown>;
  const key = String(site.path.at(-1));
  const text = String(holder[key]);
  if (site.isKey) {
    const entries = Object.entries(holder).map(([name, value]) => [name === key ? site.wrong : name, value]);
    for (const name of Object.keys(holder)) delete holder[name];
    Object.assign(holder, Object.fromEntries(entries));
  } else holder[key] = text.slice(0, site.at) + site.wrong + text.slice(site.at + site.word.length);
  const changed = stringify(root, { lineWidth: 100 });
  const loaded = loadDomain(folder, { overlay: new Map([[site.file, changed]]) });
  const known = new Set(before.map(({ code, message }) => `${code} ${message}`));
  const found = completeDomain(loaded, tools, external).diagnostics.filter(
    ({ code, message }) => !known.has(`${code} ${message}`),
  );
  return { found, changed };
}

it('the originals have no findings about names or values', () => {
  const found = [...subjects.values()].flatMap(({ folder, before }) =>
    before
      .filter(({ code }) => /unknown-(?!tool)|type-mismatch|bad-arguments/.test(code))
      .map(({ file, line, message }) => `${relative(folder, file)}:${line} ${message}`),
  );
  expect(found).toEqual([]);
  expect(subjects.size).toBe(sampleDomains.length + 2);
});

it(`finds ${count} generated misspellings, at their place, and names what was meant`, () => {
  const drawn = draw();
  for (const [kind, number] of Object.entries(least))
    expect(drawn.filter((site) => site.kind === kind).length, kind).toBeGreaterThanOrEqual(number);
  const missed = drawn.flatMap((site) => {
    const { found, changed } = findingsOf(site);
    const lines = changed.split('\n');
    const isHit = found.some(
      ({ file, line, column, message, hint = '' }) =>
        file === site.file &&
        message.includes(site.wrong) &&
        /Did you mean /.test(hint) &&
        lines[line - 1]
          ?.slice(column - 1)
          .replace(/^["']/, '')
          .startsWith(site.wrong.split(' ')[0] ?? ''),
    );
    if (isHit) return [];
    return [
      `${site.kind} ${site.word} -> ${site.wrong} in ${site.domain} ${site.path.join('.')}: ${found.map(({ code, line, column, message, hint }) => `${line}:${column} ${code} ${message} ${hint}`).join(' | ')}`,
    ];
  });
  expect(missed).toEqual([]);
}, 300_000);
