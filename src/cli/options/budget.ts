import { type ModelRole, modelRoles } from '../../engine/core/evaluation/measure.ts';
import type { Price, Prices } from '../../engine/core/evaluation/metrics.ts';
import { type Meter, openMeter } from '../../engine/shell/runs/meter.ts';
import { UsageError } from '../terminal/io.ts';
import { type Given, text } from './command.ts';
import { wholeNumber } from './rolloutOptions.ts';

/** Keeps the budget that was given. Throws a `UsageError` where money is to be counted and a price is missing. */
export function meterOf(given: Given, asked: Readonly<Record<ModelRole, boolean>>, prices: Prices): Meter {
  const money = text(given, 'budget-money');
  if (money !== undefined && !(Number(money) > 0))
    throw new UsageError(`--budget-money is a number above 0, not "${money}"`);
  const [unpriced] = modelRoles.filter((role) => asked[role] && !prices[role]);
  if (money !== undefined && unpriced)
    throw new UsageError(
      `--budget-money needs the price of the model ${unpriced === 'tools' ? 'that simulates tools' : `in the ${unpriced}'s seat`}: --${priceOption(unpriced)} IN/OUT`,
    );
  return openMeter(
    { tokens: wholeNumber(given, 'budget-tokens'), money: money === undefined ? undefined : Number(money) },
    prices,
  );
}

/** Says why a budget stops a run, and what to do where it cannot be kept. */
export function spentText({ isUncountable, spent }: Meter): string {
  const { tokens, money } = spent();
  return isUncountable()
    ? 'the budget cannot be kept, since an answer did not say how many tokens it used. Let the endpoint report usage, or leave out the budget'
    : `the budget is spent (${tokens} tokens, ${money.toFixed(4)} money)`;
}

/** The option that a role's price is given by. */
export const priceOption = (role: ModelRole) => (role === 'agent' ? 'price' : `${role}-price`);

/** The price that an option was given, if it was. */
export function priceOf(given: Given, name: string): Price | undefined {
  const value = text(given, name);
  if (value === undefined) return undefined;
  const [, input, output] = /^(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(value) ?? [];
  if (input === undefined || output === undefined)
    throw new UsageError(`--${name} is what a million tokens cost, IN/OUT, for example 0.5/1.5, not "${value}"`);
  return { input: Number(input), output: Number(output) };
}
