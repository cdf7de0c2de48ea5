import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../../engine/shell/fault.ts';
import type { Launch } from './target.ts';

/** What a model's hub asks for, where a person has it. */
const optional = ['HF_TOKEN', 'HF_ENDPOINT'];

/**
 * The variables of this environment that the run needs on another machine: those that name the key of a model, and
 * those that the servers of a domain are given. They travel to the environment of a process there, and to no file.
 * Throws a `Fault` that names those which are not set here.
 */
export function keysOf({ config }: Launch, environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const needed = [...namedKeys(config), ...domainsOf(config).flatMap(variablesOf)];
  const missing = [...new Set(needed.filter((name) => !environment[name]))];
  if (missing.length > 0)
    throw new Fault({
      who: 'environment',
      code: 'key/missing',
      message: `${missing.join(', ')} is not set in the environment here, and the run needs it there: set it and run this again`,
    });
  const present = optional.filter((name) => environment[name]);
  return Object.fromEntries([...needed, ...present].map((name) => [name, environment[name] ?? '']));
}

function namedKeys(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'api_key_env' && typeof inner === 'string' ? [inner] : namedKeys(inner),
  );
}

/** The folders of the domains that a configuration names, at whatever depth. */
export function domainsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'domain' && typeof inner === 'string' ? [inner] : domainsOf(inner),
  );
}

function variablesOf(domain: string): string[] {
  const text = readFileSync(join(domain, 'domain.yaml'), 'utf8');
  return [...text.matchAll(/\$\{env:(\w+)\}/g)].flatMap(([, name]) => name ?? []);
}
