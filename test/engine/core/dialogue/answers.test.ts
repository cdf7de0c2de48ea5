import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { recogniser } from '../../../../src/engine/core/dialogue/dialogue.ts';
import { lexiconSchema } from '../../../../src/engine/core/dialogue/lexicon.ts';
import type { Domain } from '../../../../src/engine/core/domain/domain.ts';
import { factsOf, tells } from '../../../../src/engine/core/events/facts.ts';
import { domain as desk, heardBy, personas, taskWith } from '../conversation.ts';

/**
 * Tests the whole agenda user on agent texts that no rule was tuned on. It gives facts that the agent asks for, answers
 * proposals with yes or no, leaves after a hand-over, and asks about texts that a person could not understand either.
 * As in utterances.test.ts, misses are not shown.
 */
type Utterance = {
  readonly text: string;
  readonly speaker: 'agent' | 'user';
  readonly label: {
    readonly asks: readonly string[];
    readonly proposes: boolean;
    readonly offersMore: boolean;
    readonly refuses: boolean;
    readonly handsOff: boolean;
    readonly nonsense: boolean;
  };
};

const read = (file: string) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
const lexicon = lexiconSchema.parse(read('lexicon.json'));
const domain: Domain = { ...desk, lexicon };
const { user: understood } = recogniser(lexicon, Object.keys(lexicon.facts));

/** A value for each fact in the lexicon, so that the user can give any fact. */
const known = {
  order_id: 'W1004',
  parcel_id: 'P4471',
  email: 'ada.lund@example.com',
  postcode: '60327',
  name: 'Ada Lund',
  phone: '555 0134',
  new_address: '9 Garden Close, Dunmore',
  date: 'Tuesday',
  item: 'kettle',
  variant: 'green',
  size: 'medium',
  reason: 'ordered by mistake',
  payment_method: 'gift card',
};

const taskFor = (persona: string) =>
  taskWith({
    persona,
    user: { goal: 'You want help with an order.', opening: 'Hello, I need some help.', known },
    actions: [{ tool: 'paint', arguments: { chair: 'W1004', colour: 'green' } }],
  });

type Kind = 'facts' | 'verdict' | 'leave' | 'clarify' | 'goOn' | 'neither';

/** Checks, for each kind of answer that labels can require, whether a reply is of this kind. */
const kinds: Readonly<
  Record<Kind, (reply: { content: string; stop: string | null }, utterance: Utterance) => boolean>
> = {
  facts: ({ content, stop }, { label }) => {
    const facts = factsOf(taskFor('plain-simple'), false);
    return stop === null && label.asks.every((name) => facts[name] !== undefined && tells(content, facts[name]));
  },
  verdict: ({ content, stop }) => {
    const { confirms, denies } = understood(content);
    return stop === null && confirms !== denies;
  },
  leave: ({ stop }) => stop === 'transferred',
  clarify: ({ content, stop }) => stop === null && understood(content).asks,
  // An offer of more help can also report that everything is done, so the user may leave.
  goOn: ({ content, stop }, { label }) =>
    (stop === null || (label.offersMore && stop === 'done')) && content !== '' && !understood(content).confirms,
  // Without a question or a proposal, there is nothing to agree to.
  neither: ({ content }) => content !== '' && !understood(content).confirms,
};

function kindOf({ label }: Utterance): Kind {
  if (label.nonsense) return 'clarify';
  if (label.proposes) return 'verdict';
  if (label.asks.length > 0) return 'facts';
  if (label.handsOff) return 'leave';
  return label.refuses || label.offersMore ? 'goOn' : 'neither';
}

it('has a value for every fact of the lexicon', () => {
  expect(Object.keys(known)).toEqual(Object.keys(lexicon.facts));
});

it.each(personas.filter(({ behaviours: { omits, changes, insists } }) => !(omits || changes || insists)))(
  'answers what it was asked, at least 9 times of 10, as $id',
  ({ id }) => {
    const agent = (read('unseen.json').utterances as Utterance[]).filter(({ speaker }) => speaker === 'agent');
    const counts: Partial<Record<Kind, { right: number; of: number }>> = {};
    for (const utterance of agent) {
      const kind = kindOf(utterance);
      counts[kind] ??= { right: 0, of: 0 };
      const reply = heardBy(taskFor(id), [utterance.text], '1', domain).at(-1);
      counts[kind].of += 1;
      if (reply && kinds[kind](reply, utterance)) counts[kind].right += 1;
    }
    const all = Object.values(counts);
    const [right, of] = [all.reduce((sum, each) => sum + each.right, 0), all.reduce((sum, each) => sum + each.of, 0)];
    const share = `${right} of ${of} answers are of the right kind: ${JSON.stringify(counts)}`;
    console.info(share);
    expect(of).toBeGreaterThanOrEqual(90);
    expect(right / of, share).toBeGreaterThanOrEqual(0.9);
  },
);
