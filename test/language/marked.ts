import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Tool } from '../../src/engine/core/domain/tool.ts';
import { loadDomain } from '../../src/engine/shell/domain/loadDomain.ts';
import type { Location } from '../../src/engine/shell/files/diagnostic.ts';
import { completionsAt } from '../../src/language/completion/completion.ts';
import type { Completion } from '../../src/language/completion/offer.ts';
import type { LanguageDomain } from '../../src/language/symbols/languageDomain.ts';
import type { Position } from '../../src/language/symbols/symbols.ts';
import { desk, deskTools, type Files, folderOf } from '../engine/shell/load/domainFolder.ts';

/** A domain and the place of the mark `|` in one of its files. */
export type Marked = { readonly domain: LanguageDomain; readonly at: Position };

/** The desk with more names: words for facts, a verifier, a user's side, a simulated tool. */
export const office: Files = {
  ...desk,
  'domain.yaml': `name: desk
policy: policy.md
userDatabase: user.json
lexicon:
  facts:
    order: { label: order number, ask: ["Which order?"] }
  tools:
    cancel_order: { done: ["Done, {order} is cancelled."] }
`,
  'policy.md': `# Desk

- Look the order up with find_order first. {#look-up}
- Ask for a yes before you call \`cancel_order\`. {#confirm}
`,
  'rules.yaml': `- { rule: confirm, check: confirmed, tools: [cancel_order], names: [order], gate: true }
- rule: look-up
  check: onlyIf
  tools: writes
  condition: >-
    db.orders[args.order].status == "pending" and
    any(calls, c, c.tool == "find_order" and not c.failed)
- { rule: look-up, check: before, tools: [cancel_order], require: [find_order], same: [order] }
- { rule: confirm, check: never, when: 'says(message, phrases.soon)' }
`,
  'phrases.yaml': 'soon: [soon, shortly]\nlate: [too late]\n',
  'tools/weather.tool.yaml': `name: find_weather
description: Weather of a day.
behaviour: Sunny.
parameters: { type: object, properties: { day: { type: string } }, required: [day] }
reads: [orders.*.status]
`,
  'verifiers.ts': "import { verifier } from 'rehearsal';\nexport const tidy = verifier(() => true);\n",
  'user.json': '{"phone": {"battery": 80}}',
  'tasks/second.task.yaml': `- id: second
  persona: plain
  user:
    goal: Cancel order W2.
    known: { order: W2 }
    unknown: [reason]
  state:
    - { path: [orders, W2, status], value: pending }
    - { side: user, path: [phone, battery], value: 20 }
  actions:
    - { tool: find_order, arguments: { order: W2 } }
    - { tool: cancel_order, arguments: { order: W2 } }
  assertions:
    - { path: orders.W2.status, equals: cancelled }
    - { that: 'any(state.orders, it.status == "done")' }
  verifiers: [tidy]
  evaluate: [database, assertions, custom]
`,
};

/** Loads a domain in which one file has a mark. */
export function marked(path: string, text: string, files: Files = office, tools: readonly Tool[] = deskTools): Marked {
  const offset = text.indexOf('|');
  if (offset < 0) throw new Error(`there is no mark in ${text}`);
  const folder = folderOf({ ...files, [path]: text.slice(0, offset) + text.slice(offset + 1) });
  const before = text.slice(0, offset).split('\n');
  const domain = { loaded: loadDomain(folder), described: new Map(tools.map((tool) => [tool.name, tool])) };
  return { domain, at: { file: join(folder, path), line: before.length, column: (before.at(-1) ?? '').length + 1 } };
}

/** Puts the mark into a file of the office, `into` characters after the start of the first occurrence of some words. */
export function markedAt(path: string, words: string, into = 0, files: Files = office): Marked {
  const text = String(files[path]);
  const offset = text.indexOf(words);
  if (offset < 0) throw new Error(`${path} does not say ${words}`);
  return marked(path, `${text.slice(0, offset + into)}|${text.slice(offset + into)}`, files);
}

/** Formats places for tests: `path:line words`. */
export function shownPlaces({ loaded }: LanguageDomain, places: readonly Location[]): readonly string[] {
  return places.map(({ file, line, column, endLine, endColumn }) => {
    const row = readFileSync(file, 'utf8').split('\n')[line - 1] ?? '';
    return `${relative(loaded.folder, file)}:${line} ${row.slice(column - 1, endLine === line ? endColumn - 1 : undefined)}`;
  });
}

/** Returns the completions at the mark. */
export function offeredAt(path: string, text: string, files: Files = office): readonly Completion[] {
  const { domain, at } = marked(path, text, files);
  return completionsAt(domain, at);
}

/** Returns the labels of the completions at the mark, best match first. */
export function labelsAt(path: string, text: string, files: Files = office): readonly string[] {
  return offeredAt(path, text, files)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ label }) => label);
}
