import type { DomainFile } from '../../core/domain/domain.ts';
import type { ModelSettings } from '../../core/domain/modelSettings.ts';
import { type AskedSettings, type ModelSeat, namedModel } from '../../core/domain/seatSpec.ts';
import type { ModelRole } from '../../core/evaluation/measure.ts';
import { Fault } from '../files/fault.ts';
import { throwUnlessAllowed } from '../keys/keyOrigins.ts';
import { fillPlaceholders, type PlaceholderProblem, variablesIn } from '../keys/placeholders.ts';
import { keptSecret } from '../keys/secrets.ts';

/** Returns a model with settings laid over its own; fields of requests and headers one by one. */
export function withSettings(model: ModelSeat, settings: AskedSettings = {}): ModelSeat {
  const { extraBody, headers, ...rest } = settings;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return {
    ...model,
    ...given,
    ...(extraBody ? { extraBody: { ...model.extraBody, ...extraBody } } : {}),
    ...(headers ? { headers: { ...model.headers, ...headers } } : {}),
  };
}

/** Whether the text of a seat names the address of its model. */
export const namesAddress = (seat: string) => (namedModel(seat)?.address ?? null) !== null;

/**
 * Returns what a domain sets for a model. Headers may hold keys, so they are left out unless the model is asked at an
 * address that the domain itself names.
 * @param seat the text by which the domain names the seat; null where a person chose another one
 */
export function settingsOfDomain(
  { models }: Pick<DomainFile, 'models'>,
  role: ModelRole,
  seat: string | null,
): ModelSettings {
  const { headers, ...rest } = models?.[role] ?? {};
  return headers && seat !== null && namesAddress(seat) ? { ...rest, headers } : rest;
}

/**
 * Throws a `Fault` with the code `key/origin` where the headers of a model name an environment variable that may not
 * be sent to its address.
 */
export function throwUnlessHeadersAllowed(model: ModelSeat, environment: NodeJS.ProcessEnv): void {
  for (const [header, value] of Object.entries(model.headers ?? {}))
    for (const name of variablesIn(value))
      throwUnlessAllowed({ name, url: model.baseUrl, namedBy: `the header ${header} of ${model.model}` }, environment);
}

/** Whether the value of a header is a secret, also where it is written out. */
export const isSecretHeader = (name: string) => /authorization|cookie|key|secret|token/i.test(name);

/** Secrets by name; a supervisor reads them from its environment or asks the editor. */
export type ReadKey = (name: string) => Promise<string | undefined> | string | undefined;

/** Returns a model whose headers have the values of their variables. Throws a `Fault` where one is not set. */
export async function withFilledHeaders(model: ModelSeat, readKey: ReadKey): Promise<ModelSeat> {
  const { headers } = model;
  if (!headers) return model;
  const names = Object.values(headers).flatMap(variablesIn);
  const values = await Promise.all(names.map(async (name) => [name, await readKey(name)] as const));
  const { fill } = fillPlaceholders({}, Object.fromEntries(values), (problem) => unfilled(model, problem));
  const filled = Object.entries(headers).map(([name, value]) => {
    const sent = fill(value).trim();
    return [name, isSecretHeader(name) ? keptSecret(name, sent) : sent];
  });
  return { ...model, headers: Object.fromEntries(filled) };
}

function unfilled({ model }: ModelSeat, problem: PlaceholderProblem): Fault {
  const why =
    problem.type === 'unset'
      ? `needs ${problem.variable}, which is not set. Set it, or remove the header`
      : `cannot be filled: ${problem.message}`;
  return new Fault({ who: 'environment', code: 'model/header', message: `a header of ${model} ${why}` });
}
