import type * as z from 'zod';
import { modelSettingsSchema, type SeatSettings, seatSettingsSchema } from '../../engine/core/domain/modelSettings.ts';
import { type ModelRole, modelRoles } from '../../engine/core/evaluation/measure.ts';
import { issueText } from '../../engine/core/text/issueText.ts';
import { jsonOf, put } from '../../engine/core/values/json.ts';
import { UsageError } from '../terminal/io.ts';
import { number, type OptionValues, repeated, wholeNumber } from './option.ts';

export const temperature = (description: string) =>
  number('X', description, 'a number from 0 to 2', (given) => given >= 0 && given <= 2);

/** Options for requests to models. */
export const settingOptions = {
  temperature: temperature("sampling temperature of the agent's model (default: the endpoint's)"),
  maxTokens: wholeNumber('N', "maximum tokens of one response of the agent's model"),
  set: repeated(
    'SEAT.NAME=VALUE',
    `a request setting for the model of a seat (${modelRoles.join(', ')}): temperature, maxTokens, reasoningEffort, onTruncation (say, retry, fail), modalities (such as ["image"]), extraBody.FIELD, headers.NAME; repeatable`,
  ),
};

/**
 * Reads --set, --temperature and --max-tokens as the settings of each seat. Throws a `UsageError` that names what
 * cannot be used.
 */
export function readSettings({ temperature, maxTokens, set = [] }: OptionValues<typeof settingOptions>): SeatSettings {
  const settings: Partial<Record<ModelRole, Record<string, unknown>>> = {};
  const change = (seat: ModelRole, name: string, value: unknown) => {
    settings[seat] = { ...settings[seat], [name]: value };
  };
  if (temperature !== undefined) change('agent', 'temperature', temperature);
  if (maxTokens !== undefined) change('agent', 'maxTokens', maxTokens);
  for (const each of set) {
    const { seat, name, field, value } = settingIn(each);
    if (field === undefined) change(seat, name, valueIn(value));
    else {
      const fields = { ...(settings[seat]?.[name] as Record<string, unknown> | undefined) };
      put(fields, field, name === 'headers' ? value : valueIn(value));
      change(seat, name, fields);
    }
  }
  const { data, error } = seatSettingsSchema.safeParse(settings);
  if (data) return data;
  throw new UsageError(problemOf(error));
}

/** Throws a `UsageError` if headers are set for a seat whose model the same source does not name. */
export function throwUnlessNamed(
  settings: SeatSettings,
  named: { readonly [Role in ModelRole]?: string | undefined },
  where: { readonly headers: string; readonly seat: string },
): void {
  for (const role of modelRoles) {
    if (!settings[role]?.headers || named[role]?.startsWith('openai:')) continue;
    throw new UsageError(
      role === 'tools'
        ? `${where.headers} cannot have headers for the seat tools, because domain.yaml names its model. Write them there`
        : `${where.headers} has headers for the seat ${role}, and headers go only to a model that is named with them. Add ${where.seat}${role} openai:MODEL@BASE_URL`,
    );
  }
}

type Setting = {
  readonly seat: ModelRole;
  readonly name: string;
  /** Of `extraBody` and `headers`. */
  readonly field: string | undefined;
  readonly value: string;
};

const setting = /^(?<seat>[a-z]+)\.(?:(?<map>extraBody|headers)\.(?<field>[^=]+)|(?<name>[A-Za-z]+))=(?<value>.*)$/s;

function settingIn(given: string): Setting {
  const found = setting.exec(given)?.groups;
  const seat = modelRoles.find((role) => role === found?.['seat']);
  const name = found?.['map'] ?? found?.['name'];
  if (!seat || name === undefined)
    throw new UsageError(
      `--set ${given}: expected SEAT.NAME=VALUE with a seat of ${modelRoles.join(', ')}, such as --set judge.temperature=0`,
    );
  return { seat, name, field: found?.['field'], value: found?.['value'] ?? '' };
}

/** A value in JSON, or a text that is not. */
const valueIn = (value: string): unknown => jsonOf(value) ?? value;

function problemOf(error: z.ZodError): string {
  const names = Object.keys(modelSettingsSchema.shape).join(', ');
  return `--set ${issueText(error, 'settings')}. The settings are ${names}`;
}
