import { recogniserOf } from '../events/facts.ts';
import type { UserView } from '../seats/seat.ts';
import { excerpt } from '../text/excerpt.ts';
import { plain, wordsOf } from '../text/text.ts';
import { containsWords } from '../text/value.ts';
import { turnsOf } from './turns.ts';

const things =
  '(?:order|parcel|package|account|booking|reservation|customer|tracking|confirmation|ticket|member|membership|phone|mobile|telephone|contact)';
const own = `(?:full name|first and last|surname|last name|e-?mail|(?:new |delivery |postal |shipping )?address|post ?code|postal code|zip|date of birth|${things} (?:number|id|details|code))`;
const deed =
  '(?:cancel|reschedule|redirect|refund|process|book|rebook|exchange|return|update|change|move|report|submit|issue|proceed|go ahead|extend|renew|transfer|look up|look into|check)';
const done =
  '(?:cancelled|canceled|rescheduled|redirected|updated|processed|refunded|changed|booked|issued|submitted|reported|initiated|placed|located|found|moved|scheduled|arranged|completed|verified|shipped|exchanged|returned|extended|transferred)';
const asked = '(?:provide|give|confirm|share|tell|send|type|spell|enter|verify|read out|let me know)';

/** Matches phrases that only a person who gives service uses. */
const service: readonly RegExp[] = [
  /\b(?:how|what|what else|anything (?:else|more|further)) (?:that )?(?:can|may|could) (?:i|we) (?:help|assist|do for)\b/,
  /\b(?:any|some)thing (?:else|more|further) (?:that )?(?:i|we) (?:can|could|may) (?:help|assist|do for you)\b/,
  /^(?:is there |do you need |need )?(?:any|some)thing else(?: (?:today|for you))?\?$|\bi can (?:help|assist) (?:you )?with (?:today|anything)\b/,
  /\b(?:help|assist) you with\b(?=.{0,30}(?:[?.!]|$))/,
  /\bdo you (?:need|have) any ?(?:other |more |further )?(?:help|questions?|assistance)\b|\blet (?:me|us) know if you need anything\b/,
  /\b(?:happy|glad|here|pleased) to (?:help|assist)(?: you\b|[.!]|$)|\bi can (?:certainly |definitely )?(?:help|assist) you\b/,
  /\b(?:thank you|thanks) for (?:contacting|reaching out|getting in touch|calling|choosing|bearing with|being a|your (?:order number|e-?mail|postcode)|providing (?:your|that|the))\b/,
  /\b(?:hello|hi|good (?:morning|afternoon|evening))? ?(?:and )?welcome to (?:the|our)\b/,
  new RegExp(
    `\\b(?:can|could|may|would|will|please|kindly|to)(?: you| i)?(?: please| kindly| mind)? ?${asked}(?: me| us)?(?: with)? your ${own}`,
  ),
  new RegExp(`\\b(?:can|may|could) i (?:please )?(?:have|get|ask for|see) your ${own}`),
  new RegExp(`\\b(?:what|which) is your ${own}|^your ${own}, please`),
  new RegExp(
    `\\b(?:i|we) (?:will |would |still |also |now |first )*(?:need|require) (?:to know )?your ${own}|\\byour ${own} is required`,
  ),
  new RegExp(
    `\\b(?:i|we) (?:have|had|will have)(?: just| now| already| successfully)? ${done} (?:your|order|parcel|booking|it for you|that for you|this for you)\\b`,
  ),
  new RegExp(`\\byour (?:\\w+ ){1,3}(?:has|have|is|was|were|will be)(?: been| now| already| successfully)* ${done}\\b`),
  /\byour (?:refund|money) (?:will|is|has)\b|\bunfortunately,? (?:your|delivered|shipped|we)\b/,
  new RegExp(
    `\\bshall i (?:please |now |then )?(?:${deed}|do (?:it|that)|send you)\\b(?! (?:it )?(?:myself|in person))`,
  ),
  /\b(?:may|should) i (?:go ahead|proceed)\b/,
  new RegExp(
    `\\bi (?:will|am going to|would|can)(?: now| then)? ${deed}\\b.*\\b(?:do you (?:confirm|agree)|is (?:that|this) (?:ok|okay|correct|right)|yes(?: or |/)no|does that work|do i have your)`,
  ),
  new RegExp(
    `\\b(?:would you like|do you want) (?:me|us) to ${deed}\\b|\\b(?:would you like|do you want|are you sure you want) to (?:cancel|return|exchange|reschedule|redirect|rebook|report|proceed)\\b`,
  ),
  /\b(?:reply|answer|type|respond|enter)(?: with)? ["']?yes\b|\bdo you confirm\b|\bplease confirm that you\b|\byour explicit yes\b|\bcan you confirm that i should\b/,
  /\blet me (?:just |quickly |please )?(?:look (?:that|this|it|your \w+) up|look up your|check your|pull up your|find your|check (?:that|this|it|the \w+ \w+) for you|transfer you|connect you)\b/,
  /\bplease (?:hold on|wait|bear with me) while i (?:look|check|pull)\b/,
  /\b(?:i|we) (?:will|am going to|can|cannot|would have to) (?:transfer|connect|refund|assist) you\b/,
  /\b(?:i am|we are)(?: \w+){0,2} (?:unable|not able|not allowed) to (?:refund|cancel|exchange|change|share|transfer|process)\b(?= (?:your|this for you|that for you)\b)|\bi (?:must|have to) decline (?:this|your) request\b/,
  /\bas (?:an ai|a language model|an assistant|your (?:assistant|agent|support agent))\b|\bi am (?:an ai\b|a (?:large )?language model|your (?:virtual )?(?:assistant|agent)|the (?:support )?agent\b)/,
  /\b(?:dear|valued) customer\b/,
  /\bwould you (?:like|prefer) (?:me|us|to (?:go ahead|proceed|have)|the \w+ (?:or|instead))\b|\bdoes everything look (?:right|correct|good)\b|\bas soon as you give me the\b/,
  /\byou (?:would like|want)\b.{3,80}\b(?:did i get that right|(?:correct|right)\?)/,
  /\b(?:order|parcel|refund|booking) (?:\w+ )?(?:has been|will arrive|will be|is now)\b.*\byour\b|\byou are all set\b/,
  /\b(?:i|we) can only (?:discuss|cancel|refund|share)\b|\bcan no longer be changed\b|\bwhich (?:of these|one) (?:applies|should i|are you referring)\b/,
];

/** Said by the staff of a place, and by who pretends to be. */
const staff =
  /\b(?:according to|per|under) our policy\b|\bour (?:records|system|policy) (?:show|shows|indicate|indicates|allow|allows|say|says|require|requires)\b/;

const markup = /<\/?tool|<\||"(?:name|arguments)"\s*:|^\s*[a-z]+(?:_[a-z]+)+\s*\(/im;
const labels = /^\s*(?:agent|assistant|support|support agent|representative|system)\s*:/im;

/** Whether the user's text is the agent's: its words, its deeds, or what it just said. */
export function roleFlip(view: UserView, content: string): string | null {
  const label = labels.exec(content);
  if (label && view.persona.attacks.length === 0) return `it speaks for the agent: "${quoted(label[0])}"`;
  if (markup.test(content)) return `it makes a call of a tool, which only the agent does: "${quoted(content)}"`;
  const text = plain(content);
  const found = [...service, ...asksFor(view)].map((pattern) => pattern.exec(text)).find((each) => each !== null);
  if (found) return `it speaks as the agent: "${quoted(found[0])}"`;
  if (view.persona.attacks.length === 0 && staff.test(text)) return `it speaks as the agent: "${quoted(content)}"`;
  return echo(view, content);
}

/** Matches data that the desk has too, so that a customer may ask for it. */
const bothHave = /\b(?:name|phone|e-?mail|address|number)\b/;

/** Questions for what this very user knows: "What is your parcel number?" */
function asksFor({ domain, task }: UserView): readonly RegExp[] {
  const { labelOf } = recogniserOf(domain, task);
  const labels = [...Object.keys(task.user.known), ...task.user.unknown]
    .map((name) => plain(labelOf(name)).replace(/[^\p{L}\p{N} ]/gu, ' '))
    .filter((label) => !bothHave.test(label) || label.split(' ').length > 1);
  if (labels.length === 0) return [];
  const asking = '(?:what|which|could|can|may|please|need|provide|tell me|share|give me)';
  return [new RegExp(`\\b${asking}\\b[^.!]{0,40}\\byour (?:${labels.join('|')})\\b`)];
}

function echo(view: UserView, content: string): string | null {
  const heard = turnsOf(view.messages).at(-1);
  if (heard?.role !== 'agent') return null;
  const [said, words] = [wordsOf(heard.content), wordsOf(content)];
  const isSame = words.length >= 5 && words.join(' ') === said.join(' ');
  const isWithin = said.length >= 8 && containsWords(words, said);
  return isSame || isWithin ? 'it says again what the agent said' : null;
}

/** Returns an excerpt of what a user says, to quote it. */
export const quoted = (text: string) => excerpt(text, 80).trim();
