import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileLimits, readBoundedText } from '../../engine/shell/files/boundedFile.ts';
import { variablesIn } from '../../engine/shell/keys/placeholders.ts';
import { keptSecret } from '../../engine/shell/keys/secrets.ts';
import { hubKeys, trainerEnvironment } from '../python/pythonEnvironment.ts';
import type { Launch } from './target.ts';
import { environmentFault } from './targetFaults.ts';
import { pathsIn } from './trees.ts';
import { throwUnlessKeysAllowed } from './userEndpoints.ts';

/** Environment variables that a model hub reads, passed on if they are set. */
const optional = ['HF_TOKEN', 'HF_ENDPOINT'];

/**
 * The variables of this environment that the run needs on another machine: those that name the key of a model, and
 * those that the servers of a domain are given. They travel to the environment of a process there, and to no file.
 * Throws a `Fault` that names those of the servers which are not set here.
 */
export function keysOf({ config }: Launch, environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  throwUnlessKeysAllowed(config, environment);
  const ofServers = domainsOf(config).flatMap(variablesOf);
  const missing = [...new Set(ofServers.filter((name) => !environment[name]))];
  if (missing.length > 0)
    throw environmentFault(
      'key/missing',
      `${missing.join(', ')} is not set in the environment here, and the domain's servers need it there: set it and run this again`,
    );
  const wanted = [...ofServers, ...namedKeys(config), ...optional].filter((name) => environment[name]);
  return Object.fromEntries(wanted.map((name) => [name, keptSecret(name, environment[name] ?? '')]));
}

/** The variables that a configuration names for the keys of its models. */
export function namedKeys(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'api_key_env' && typeof inner === 'string' ? [inner] : namedKeys(inner),
  );
}

/** The variables with keys that trackers read. */
const trackerKeys: Readonly<Record<string, readonly string[]>> = {
  mlflow: ['MLFLOW_TRACKING_PASSWORD', 'MLFLOW_TRACKING_TOKEN'],
  trackio: hubKeys,
  wandb: ['WANDB_API_KEY'],
};

/**
 * Returns the environment of the trainer on this machine, with the keys of the model's hub, of the trackers that the run
 * reports to, of the models that play its users, and of the servers of its domains. The engine gets the last two.
 */
export function localEnvironment(config: Launch['config']): NodeJS.ProcessEnv {
  const { report_to: trackers } = config;
  const ofTrackers = Array.isArray(trackers) ? trackers.flatMap((each) => trackerKeys[String(each)] ?? []) : [];
  const ofEngine = [...namedKeys(config), ...domainsOf(config).flatMap(variablesOf)];
  const environment = trainerEnvironment([...hubKeys, ...ofTrackers, ...ofEngine]);
  return { ...environment, REHEARSAL_ENGINE_KEYS: ofEngine.join(' ') };
}

/** The folders of the domains that a configuration names. */
export function domainsOf(config: Launch['config']): readonly string[] {
  return [...new Set(pathsIn(config))].filter((path) => existsSync(join(path, 'domain.yaml')));
}

function variablesOf(domain: string): readonly string[] {
  return variablesIn(readBoundedText(join(domain, 'domain.yaml'), fileLimits.text));
}
