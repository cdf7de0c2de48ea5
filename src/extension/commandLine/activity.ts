import type { Price } from '../../engine/core/evaluation/metrics.ts';
/** Tokens that models have used, as far as they say it. */
export type Spent = { readonly tokens: number; readonly money: number | null };

/** Something that the editor started and that still runs. */
export type Activity = {
  readonly type: 'rollout' | 'debugging' | 'evaluation' | 'synthesis' | 'training' | 'experiment' | 'serving';
  /** The name of the task, domain or training run. */
  readonly title: string;
  /** The progress; empty if it is not reported. */
  readonly detail: string;
  readonly spent: Spent;
  readonly isStopping: boolean;
};

export const nothingSpent: Spent = { tokens: 0, money: null };

/** Parses a price written as IN/OUT; returns null if it is not valid. */
export function priceIn(text: string): Price | null {
  const [, input, output] = /^\s*(\d+(?:\.\d+)?)\s*\/\s*(\d+(?:\.\d+)?)\s*$/.exec(text) ?? [];
  return input === undefined || output === undefined ? null : { input: Number(input), output: Number(output) };
}

/** The usage of one answer of a model, as the engine reports it. `money` is null if the price is unknown. */
export type Answered = { readonly input: number; readonly output: number; readonly money: number | null };

/** Returns the total after one more answer. The price is used if the engine does not know one. */
export function spentAfter(spent: Spent, { input, output, money }: Answered, price: Price | null): Spent {
  const cost = money ?? (price ? (input * price.input + output * price.output) / 1_000_000 : null);
  return {
    tokens: spent.tokens + input + output,
    money: cost === null ? spent.money : (spent.money ?? 0) + cost,
  };
}

const names: Readonly<Record<Activity['type'], string>> = {
  rollout: 'Rollout',
  debugging: 'Debugging',
  evaluation: 'Evaluation',
  synthesis: 'Synthesis',
  training: 'Training',
  experiment: 'Experiment',
  serving: 'Serving',
};

/** Returns what the status bar says about what runs; null where nothing does. */
export function statusOf(activities: readonly Activity[]): { readonly text: string; readonly tooltip: string } | null {
  const [first] = activities;
  if (!first) return null;
  const spent = total(activities);
  const what = activities.length === 1 ? `${first.title}${stopping(first)}` : `${activities.length} running`;
  const text = ['$(sync~spin) ', [what, spentText(spent)].filter(Boolean).join(' · ')].join('');
  return { text, tooltip: [...activities.map(lineOf), 'Select to stop or to open it.'].join('\n') };
}

/** One activity in a line, for lists and tooltips. */
export function lineOf(activity: Activity): string {
  const { type, title, detail, spent } = activity;
  return [`${names[type]}: ${title}${stopping(activity)}`, detail, spentText(spent)].filter(Boolean).join(' · ');
}

const stopping = ({ isStopping }: Activity): string => (isStopping ? ' (stopping)' : '');

function total(activities: readonly Activity[]): Spent {
  const costs = activities.flatMap(({ spent }) => spent.money ?? []);
  return {
    tokens: activities.reduce((all, { spent }) => all + spent.tokens, 0),
    money: costs.length === 0 ? null : costs.reduce((all, cost) => all + cost, 0),
  };
}

/** Tokens and money as people read them; empty where no model has answered. */
export function spentText({ tokens, money }: Spent): string {
  if (tokens === 0) return '';
  const count =
    tokens < 1000 ? String(tokens) : tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k` : million(tokens);
  const cost = money === null ? '' : ` · cost ${money < 0.01 ? money.toFixed(4) : money.toFixed(2)}`;
  return `${count} tokens${cost}`;
}

const million = (tokens: number): string => `${(tokens / 1_000_000).toFixed(2)}M`;
