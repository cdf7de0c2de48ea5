import { decisiveVerdict } from '../../../engine/core/domain/decisiveVerdict.ts';
import type { InWords } from '../../../engine/shell/domain/reasonInWords.ts';
import type { Step } from '../../../engine/shell/rollout/ports.ts';

/** A rule that a step decided, with its worst verdict: `rule confirm-before-write violated: ...`. */
type RuleReason = { readonly rule: string; readonly isViolated: boolean; readonly text: string };

/** Returns the rules that were decided at a step, in their order. Several checks may decide one rule. */
export function ruleReasons({ event }: Step, inWords: InWords): readonly RuleReason[] {
  const byRule = Map.groupBy(event.type === 'rulesChecked' ? event.verdicts : [], ({ rule }) => rule);
  return [...byRule].flatMap(([rule, verdicts]) => {
    const decisive = decisiveVerdict(verdicts);
    if (!decisive) return [];
    const text = `rule ${rule} ${decisive.verdict}: ${inWords(rule, decisive.reason)}`;
    return [{ rule, isViolated: decisive.verdict === 'violated', text }];
  });
}

/** Returns the rules that are violated at a step. */
export function violationsAt(step: Step, inWords: InWords): readonly RuleReason[] {
  return ruleReasons(step, inWords).filter(({ isViolated }) => isViolated);
}
