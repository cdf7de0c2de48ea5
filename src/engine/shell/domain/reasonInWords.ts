import type { RolloutEvent } from '../../core/events/event.ts';
import type { Location } from '../files/diagnostic.ts';
import type { LoadedDomain } from '../load/loadedDomain.ts';

/** The reason of a verdict for people. */
export type ReasonInWords = {
  readonly text: string;
  /** The sentence of the policy that replaces an expression. */
  readonly quote: string;
  /** The check that has the expression. */
  readonly check?: Location;
};

/** Returns the reason of a rule's verdict on one line, in words for people. */
export type InWords = (rule: string, reason: string) => string;

/** Returns what puts reasons of verdicts in the words of a domain's policy. */
export function inWordsOf(loaded: LoadedDomain): InWords {
  return (rule, reason) => {
    const { text, quote } = reasonInWords(loaded, rule, reason);
    return `${text}${quote}`;
  };
}

/** Returns the same event, with the reasons of its verdicts and of its reward in the words of the policy. */
export function eventInWords(loaded: LoadedDomain, event: RolloutEvent): RolloutEvent {
  const inWords = inWordsOf(loaded);
  if (event.type === 'rewarded') {
    const card = event.card?.map((layer) => ({
      ...layer,
      items: layer.items.map((item) => ({ ...item, reason: inWords(item.name, item.reason) })),
    }));
    return { ...event, reason: rewardInWords(loaded, event.reason), ...(card ? { card } : {}) };
  }
  if (event.type !== 'rulesChecked') return event;
  return { ...event, verdicts: event.verdicts.map((each) => ({ ...each, reason: inWords(each.rule, each.reason) })) };
}

/** Returns the reason of a reward in the words of the policy, where a rule decided the reward. */
export function rewardInWords(loaded: LoadedDomain, reason: string): string {
  const [, before = '', rule = '', why = ''] = /^(.*?\brule (\S+) .*? at step \d+: )(.*)$/s.exec(reason) ?? [];
  return before === '' ? reason : `${before}${inWordsOf(loaded)(rule, why)}`;
}

/** Returns the sentence of the policy that states a rule, on one line; null where the policy does not have the rule. */
export function sentenceOf({ domain }: LoadedDomain, rule: string): string | null {
  const stated = domain.policy.rules.find(({ id }) => id === rule);
  return stated ? oneLine(stated.text) : null;
}

/** Whether a text may have the reason of a verdict that ends in an expression. */
export function mayHaveExpression(text: string): boolean {
  return / although this (?:does not hold|holds): |, where /.test(text);
}

/** The words between an expression and the text before it, with what takes their place before the policy's sentence. */
const joints: Readonly<Record<string, string>> = {
  ' although this does not hold:': ', which the policy does not allow here',
  ' although this holds:': ', although the policy requires it here',
  ', where': ', which the policy forbids here',
};

/**
 * Replaces the expression of a check in the reason of a verdict by the rule's own words. A reason without an
 * expression, or with one that rules.yaml no longer has, is returned unchanged.
 * @param rule the id of the rule that the verdict is about
 */
export function reasonInWords(loaded: LoadedDomain, rule: string, reason: string): ReasonInWords {
  const { domain, locations } = loaded;
  const stated = sentenceOf(loaded, rule);
  const text = reason.trim();
  const [found] = domain.rules.flatMap((check, at) =>
    check.rule === rule
      ? expressionsOf(check).flatMap((expression) => (text.endsWith(` ${expression}`) ? [{ at, expression }] : []))
      : [],
  );
  const before = found ? text.slice(0, -found.expression.length - 1) : '';
  const joint = Object.keys(joints).find((each) => before.endsWith(each));
  if (!found || stated === null || joint === undefined) return { text: reason, quote: '' };
  const place = locations.rules[found.at];
  return {
    text: `${before.slice(0, -joint.length)}${joints[joint]}`,
    quote: `: "${stated}"`,
    ...(place ? { check: place } : {}),
  };
}

function expressionsOf(rule: LoadedDomain['domain']['rules'][number]): readonly string[] {
  const { condition, when, onlyWhen, always }: Partial<Record<string, unknown>> = rule;
  return [condition, when, onlyWhen, always].flatMap((each) => (typeof each === 'string' ? [oneLine(each)] : []));
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
