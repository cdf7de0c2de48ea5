import { decisiveVerdict } from '../domain/decisiveVerdict.ts';
import type { RuleVerdict } from '../domain/rule.ts';
import { type EventOf, isDemanding, type RolloutEvent } from '../events/event.ts';
import type { CardItem, LayerName, ReportCard } from '../events/reportCard.ts';
import { isVerifierOpen, layerVerdict } from './conclusion.ts';
import { notOver } from './recovery.ts';
import { heldText, isUnscorable, notEvaluated } from './reward.ts';
import { judged, rulesHeld, undecidedAttack } from './safety.ts';

/** The events before a reward, as far as its report card follows from them. */
type Before = {
  readonly ofRule: ReadonlyMap<string, readonly (RuleVerdict & { readonly step: number })[]>;
  readonly verdicts: readonly EventOf<'verdictReached'>['verdict'][];
  readonly isCutShort: boolean;
};

/**
 * Returns the events of a recording as this version records them. Earlier versions recorded as held what was not
 * evaluated: a rule with a check that could not be evaluated, an attack in a rollout that ended early, a verifier that
 * requires nothing, and a layer with a verifier that could not be evaluated. The reward itself is the same.
 */
export function withPresentReward<Of extends { readonly event: RolloutEvent }>(lines: readonly Of[]): readonly Of[] {
  const last = lines.at(-1);
  if (last?.event.type !== 'rewarded' || last.event.card === undefined) return lines;
  const event = presentReward(
    last.event,
    last.event.card,
    lines.map((line) => line.event),
  );
  return [...lines.slice(0, -1), { ...last, event }];
}

function presentReward(
  rewarded: EventOf<'rewarded'>,
  card: ReportCard,
  events: readonly RolloutEvent[],
): EventOf<'rewarded'> {
  const before = beforeReward(events);
  const { verdicts } = before;
  const basis = verdicts.filter(({ diagnostic }) => !diagnostic);
  const earlier = `${basis.map(({ verifier }) => verifier).join(' and ')} held `;
  const isAllHeld = rewarded.reward === 1 && rewarded.reason.startsWith(earlier);
  return {
    ...rewarded,
    ...(isAllHeld ? { reason: `${heldText(basis)} ${rewarded.reason.slice(earlier.length)}` } : {}),
    card: presentCard(card, before),
  };
}

function beforeReward(events: readonly RolloutEvent[]): Before {
  const ruleVerdicts = events.flatMap((event, step): readonly (RuleVerdict & { readonly step: number })[] => {
    if (event.type === 'rulesChecked') return event.verdicts.map((verdict) => ({ ...verdict, step }));
    if (event.type !== 'judged' || event.subject.type !== 'rule' || event.holds !== null) return [];
    const { subject, reason } = event;
    return [{ rule: subject.rule, check: 'judge', gate: false, verdict: 'unknown', reason, evidence: [step], step }];
  });
  const end = events.findLast((event) => event.type === 'rolloutEnded');
  return {
    ofRule: Map.groupBy(ruleVerdicts, ({ rule }) => rule),
    verdicts: events.flatMap((event) => (event.type === 'verdictReached' ? [event.verdict] : [])),
    isCutShort: end !== undefined && isUnscorable(end),
  };
}

function presentCard(card: ReportCard, before: Before): ReportCard {
  const rules = card.flatMap(({ layer, items }) =>
    layer === 'safety' ? items.map((item) => ruleItem(item, before)) : [],
  );
  return card.map(({ layer, verdict, items }) => {
    const present = items.flatMap((item) => presentItems(layer, item, before, rules));
    const isOpen = isVerifierOpen(before.verdicts, layer);
    const isSame = present.length === items.length && present.every((item, at) => item === items[at]);
    if (isSame && !isOpen) return { layer, verdict, items };
    return { layer, verdict: layerVerdict(present, isOpen || verdict === 'unknown'), items: present };
  });
}

function presentItems(
  layer: LayerName,
  item: CardItem,
  before: Before,
  safetyRules: readonly CardItem[],
): readonly CardItem[] {
  switch (layer) {
    case 'outcome':
      return before.verdicts.some((verdict) => verdict.verifier === item.name && !isDemanding(verdict)) ? [] : [item];
    case 'recovery':
      return before.isCutShort && item.reason.endsWith(notOver)
        ? [{ ...item, verdict: 'unknown', reason: `${item.name} failed: ${notEvaluated}` }]
        : [item];
    case 'safety':
      return [item.line === undefined ? attackItem(item, before, safetyRules) : ruleItem(item, before)];
    case 'policy':
    case 'communication':
      return [ruleItem(item, before)];
    default:
      return layer satisfies never;
  }
}

/** Only the item of a rule has a line. */
function ruleItem(item: CardItem, { ofRule }: Before): CardItem {
  const open = (ofRule.get(item.name) ?? []).filter(({ verdict }) => verdict === 'unknown');
  const decisive = item.verdict === 'held' && item.line !== undefined ? decisiveVerdict(open) : undefined;
  if (!decisive) return item;
  const { verdict, reason, evidence, step } = decisive;
  return { ...item, verdict, reason, evidence: [...new Set([...evidence, step])] };
}

function attackItem(item: CardItem, { ofRule, isCutShort }: Before, rules: readonly CardItem[]): CardItem {
  if (item.verdict !== 'held' || item.reason.startsWith(judged)) return item;
  const gate = [...ofRule.values()].flat().find((each) => each.gate && each.verdict === 'unknown');
  const reason = undecidedAttack(isCutShort, gate, item.reason.startsWith(rulesHeld) ? rules : []);
  return reason === null ? item : { ...item, verdict: 'unknown', reason, evidence: item.evidence.slice(0, 1) };
}

/**
 * Returns a recorded card with the items of rules that were not evaluated because the rollout ended early. Earlier
 * versions did not record them, and only the domain shows which they are, so they are taken from a recomputed card.
 */
export function withUnevaluatedRules(recorded: ReportCard, recomputed: ReportCard): ReportCard {
  return recorded.map((layer, at) => {
    const { items = [], verdict = layer.verdict } = recomputed[at] ?? {};
    const unevaluated = items.filter(({ line, reason }) => line !== undefined && reason === notEvaluated);
    if (unevaluated.length === 0) return layer;
    const now = (item: CardItem) =>
      (item.verdict === 'held' && unevaluated.find(({ name, line }) => name === item.name && line === item.line)) ||
      item;
    const present = layer.items.map(now);
    const missing = unevaluated.filter(
      (item) => !present.some(({ name, line }) => name === item.name && line === item.line),
    );
    const rest = present.findIndex(({ line }) => line === undefined);
    return { ...layer, verdict, items: present.toSpliced(rest < 0 ? present.length : rest, 0, ...missing) };
  });
}

/**
 * Returns a recorded event with the evidence of `communicate` as this version records it. Earlier versions named the last
 * message of the agent, not the one that said the text.
 */
export function withPresentEvidence(recorded: RolloutEvent, recomputed: RolloutEvent): RolloutEvent {
  if (recorded.type === 'verdictReached' && recomputed.type === 'verdictReached')
    return { ...recorded, verdict: withEarlierEvidence(recorded.verdict, recomputed.verdict) };
  if (recorded.type !== 'rewarded' || recomputed.type !== 'rewarded' || !recorded.card) return recorded;
  const items = recomputed.card?.flatMap((layer) => layer.items) ?? [];
  const now = items.find(({ name }) => name === 'communicate');
  if (!now) return recorded;
  const card = recorded.card.map((layer) => ({
    ...layer,
    items: layer.items.map((item) => withEarlierEvidence(item, now)),
  }));
  return { ...recorded, card };
}

type Cited = { readonly name?: string; readonly verifier?: string; readonly evidence: readonly number[] };

function withEarlierEvidence<Of extends Cited>(recorded: Of, { evidence }: Cited): Of {
  const isLater = Number(recorded.evidence[0]) > Number(evidence[0]);
  return isLater && (recorded.verifier ?? recorded.name) === 'communicate' ? { ...recorded, evidence } : recorded;
}
