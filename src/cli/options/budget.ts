import * as z from 'zod';
import { byRole, type ModelRole, modelRoles } from '../../engine/core/evaluation/measure.ts';
import type { Prices } from '../../engine/core/evaluation/metrics.ts';
import { type Meter, openMeter } from '../../engine/shell/runs/meter.ts';
import { UsageError } from '../terminal/io.ts';
import { number, type OptionValues, option, optionName, wholeNumber } from './option.ts';

const price = (description: string) =>
  option(
    'IN/OUT',
    description,
    z
      .string()
      .regex(/^\d+(?:\.\d+)?\/\d+(?:\.\d+)?$/, 'what a million tokens cost, IN/OUT, for example 0.5/1.5')
      .transform((given) => {
        const [input = 0, output = 0] = given.split('/').map(Number);
        return { input, output };
      }),
  );

/** Options that limit what the models of a run may use. */
export const budgetOptions = {
  budgetTokens: wholeNumber(
    'N',
    'tokens that the models may use in this call; rollouts in progress then wait until you resume with another budget',
  ),
  budgetMoney: number('X', 'the same in money, computed from --price', 'a number above 0', (given) => given > 0),
  price: price("price of a million tokens of the agent's model, as input and output"),
  userPrice: price("the same for the user's model"),
  judgePrice: price('the same for the judge'),
  toolsPrice: price('the same for the model that simulates tools'),
};
type Budget = OptionValues<typeof budgetOptions>;

const priceOptions = {
  agent: 'price',
  user: 'userPrice',
  judge: 'judgePrice',
  tools: 'toolsPrice',
} as const satisfies Record<ModelRole, keyof Budget>;

export const pricesOf = (given: Budget): Prices => byRole((role) => given[priceOptions[role]]);

/** Keeps the budget that was given. Throws a `UsageError` where money is to be counted and a price is missing. */
export function meterOf(
  { budgetTokens: tokens, budgetMoney: money }: Budget,
  asked: Readonly<Record<ModelRole, boolean>>,
  prices: Prices,
): Meter {
  const [unpriced] = modelRoles.filter((role) => asked[role] && !prices[role]);
  if (money !== undefined && unpriced)
    throw new UsageError(
      `--budget-money needs the price of the model ${unpriced === 'tools' ? 'that simulates tools' : `in the ${unpriced}'s seat`}: --${optionName(priceOptions[unpriced])} IN/OUT`,
    );
  return openMeter({ tokens, money }, prices);
}

/** Says why a budget stops a run, and what to do where it cannot be kept. */
export function spentText({ isUncountable, spent }: Meter): string {
  const { tokens, money } = spent();
  return isUncountable()
    ? 'the budget cannot be kept, since an answer did not say how many tokens it used. Let the endpoint report usage, or leave out the budget'
    : `the budget is spent (${tokens} tokens, ${money.toFixed(4)} money)`;
}
