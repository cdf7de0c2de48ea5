import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { yamlScalar } from '../../engine/shell/source/edit.ts';
import type { Files } from './newFolder.ts';

/** A domain that ships with the engine, to begin with. */
export type DomainTemplate = { readonly name: string; readonly description: string };

/** The user's settings of a new domain; the template's values are used for those left out. */
export type DomainHead = { readonly name?: string; readonly now?: string };

/** The order of templates and samples: those that most people start with come first. */
const order = ['order-desk', 'support-desk', 'dual-control', 'mcp', 'empty'];
const orderOf = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);

/**
 * The templates that ship, with what their `domain.yaml` says about them.
 * @param root the folder of all templates
 */
export function domainTemplates(root: string): readonly DomainTemplate[] {
  return readdirSync(root)
    .filter((name) => statSync(join(root, name)).isDirectory())
    .toSorted((a, b) => orderOf(a) - orderOf(b) || (a < b ? -1 : 1))
    .map((name) => {
      const text = readFileSync(join(root, name, 'domain.yaml'), 'utf8');
      return { name, description: /^description: (.*)$/m.exec(text)?.[1] ?? '' };
    });
}

/** Returns the files of a domain that ships, under the name and at the date that a person wants. Hidden files are left out. */
export function templateFiles(root: string, template: string, head: DomainHead): Files {
  const folder = join(root, template);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => name.split(sep).join('/'))
    .filter((name) => !/(?:^|\/)\./.test(name))
    .toSorted();
  return Object.fromEntries(
    names.map((name) => {
      const text = readFileSync(join(folder, name), 'utf8');
      return [name, name === 'domain.yaml' ? headed(text, head) : text];
    }),
  );
}

function headed(text: string, { name, now }: DomainHead): string {
  const named = name === undefined ? text : text.replace(/^name: .*$/m, () => `name: ${yamlScalar(name)}`);
  return now === undefined ? named : named.replace(/^now: "[^"]*"/m, () => `now: ${JSON.stringify(now)}`);
}
