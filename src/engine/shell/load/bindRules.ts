import type { PolicyRule } from '../../core/domain/domain.ts';
import { blocksQuoting, type ParsedPolicy } from '../../core/domain/policy.ts';
import type { Rule } from '../../core/domain/rule.ts';
import type { Diagnostic } from '../files/diagnostic.ts';
import { type Placed, placeOf } from '../source/items.ts';

/** Binds each machine check to a rule of the policy, by its id or by a quote of its text. */
export function bindRules(policy: ParsedPolicy, rules: readonly Placed<Rule>[]) {
  const quoted = new Map<string, PolicyRule>();
  const diagnostics: Diagnostic[] = [];
  const ids = new Set(policy.policy.rules.map(({ id }) => id));
  const bound = rules.map((placed): Placed<Rule> => {
    const { rule } = placed.value;
    if (ids.has(rule) || !/\s/.test(rule)) return placed;
    const found = blocksQuoting(policy.blocks, rule);
    const [block] = found;
    if (!block) return placed;
    if (found.filter(({ isRule }) => isRule === block.isRule).length > 1) {
      const lines = found
        .map(({ line }) => line)
        .toSorted((a, b) => a - b)
        .join(', ');
      const message = `The quote is in more than one rule of the policy (lines ${lines}); line ${block.line} is used.`;
      diagnostics.push({
        ...placeOf(placed, 'rule'),
        code: 'rule/ambiguous-quote',
        severity: 'warning',
        message,
        hint: 'Quote more of it.',
      });
    }
    const id = block.id ?? quoted.get(`${block.line}`)?.id ?? freeId(block.text, ids);
    ids.add(id);
    if (block.id === null)
      quoted.set(`${block.line}`, { id, text: block.text, line: block.line, endLine: block.endLine });
    return { ...placed, value: { ...placed.value, rule: id } };
  });
  const all = [...policy.policy.rules, ...quoted.values()].toSorted((a, b) => a.line - b.line);
  return { rules: bound, diagnostics, policy: { ...policy, policy: { ...policy.policy, rules: all } } };
}

/** An id for a rule that has no mark, from its first words. */
function freeId(text: string, taken: ReadonlySet<string>): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? ['rule'];
  const id = words.slice(0, 6).join('-');
  const next = (count: number): string => (taken.has(`${id}-${count}`) ? next(count + 1) : `${id}-${count}`);
  return taken.has(id) ? next(2) : id;
}
