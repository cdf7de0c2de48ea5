import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Launch } from './target.ts';
import { environmentFault } from './targetFaults.ts';
import { pathsIn } from './trees.ts';

/** What a model's hub asks for, where a person has it. */
const optional = ['HF_TOKEN', 'HF_ENDPOINT'];

/**
 * The variables of this environment that the run needs on another machine: those that name the key of a model, and
 * those that the servers of a domain are given. They travel to the environment of a process there, and to no file.
 * Throws a `Fault` that names those of the servers which are not set here.
 */
export function keysOf({ config }: Launch, environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const ofServers = domainsOf(config).flatMap(variablesOf);
  const missing = [...new Set(ofServers.filter((name) => !environment[name]))];
  if (missing.length > 0)
    throw environmentFault(
      'key/missing',
      `${missing.join(', ')} is not set in the environment here, and the domain's servers need it there: set it and run this again`,
    );
  const wanted = [...ofServers, ...namedKeys(config), ...optional].filter((name) => environment[name]);
  return Object.fromEntries(wanted.map((name) => [name, environment[name] ?? '']));
}

/** The variables that a configuration names for the keys of its models. */
export function namedKeys(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'api_key_env' && typeof inner === 'string' ? [inner] : namedKeys(inner),
  );
}

/** The folders of the domains that a configuration names. */
export function domainsOf(config: Launch['config']): readonly string[] {
  return [...new Set(pathsIn(config))].filter((path) => existsSync(join(path, 'domain.yaml')));
}

function variablesOf(domain: string): string[] {
  const text = readFileSync(join(domain, 'domain.yaml'), 'utf8');
  return [...text.matchAll(/\$\{env:(\w+)\}/g)].flatMap(([, name]) => name ?? []);
}
