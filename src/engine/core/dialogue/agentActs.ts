import { plain, type Sentence, sentencesOf, wordsOf } from '../text/text.ts';
import { handsOver, isDeclined, isMisunderstanding, isOffer, isReport } from './agentSentence.ts';
import { kindsAskedIn } from './kind.ts';
import type { Vocabulary } from './mention.ts';
import { patterns, words } from './patterns.ts';
import { isProposalSentence } from './proposal.ts';
import { chosenFrom, exactQuestions, factsAskedIn, listedAbove, referredTo, withoutNeedless } from './request.ts';
import { isEnglish, isSenseless } from './sense.ts';

const { wishForDeed, addressesUser } = patterns.agentActs;

/** The dialogue acts of an agent's utterance: what the agent does by saying it. */
export type AgentActs = {
  /** The names of the facts that it asks for. */
  readonly asks: readonly string[];
  /** Whether it asks a question in which no fact was recognised. */
  readonly asksOther: boolean;
  /** Whether it asks what the user wants: "How can I help you?" */
  readonly asksWish: boolean;
  /** Whether it asks for a yes to what the agent is about to do: "Shall I cancel the order?" */
  readonly proposes: boolean;
  readonly offersMore: boolean;
  readonly reportsDone: boolean;
  readonly refuses: boolean;
  /** Whether it says that a person takes over: "I'll transfer you to a colleague." */
  readonly handsOff: boolean;
  readonly greets: boolean;
  readonly saysGoodbye: boolean;
  readonly notUnderstood: boolean;
  /** Whether it asks the user to wait: "One moment, please." */
  readonly waits: boolean;
  /** Whether it gives information about the user's matter: "The parcel arrives on Tuesday." */
  readonly informs: boolean;
  /** Whether a person could not make sense of it here. */
  readonly nonsense: boolean;
};

const serviceWords = new Set(words.agentActs.serviceWords);
/** Recognises the dialogue acts of an agent's utterance. `vocabulary` has the facts that the agent can ask for. */
export function recogniseAgent(text: string, vocabulary: Vocabulary): AgentActs {
  const all = plain(text);
  if (isSenseless(text)) return { ...silence, nonsense: true };
  const spoken = sentencesOf(all);
  const sentences = spoken.map((sentence) => classify(sentence, vocabulary));
  const has = (act: keyof Acts) => sentences.some((each) => Boolean(each[act]));
  const asks = [
    ...new Set([
      ...sentences.flatMap((each) => each.asks),
      ...spoken.flatMap((sentence, at) => referredTo(spoken[at - 1], sentence, vocabulary)),
      ...spoken.flatMap((sentence, at) =>
        sentences[at]?.asks.length || sentences[at]?.proposes
          ? []
          : chosenFrom(spoken.slice(Math.max(0, at - 2), at), sentence, vocabulary),
      ),
      ...exactQuestions(all, vocabulary),
      ...listedAbove(all, vocabulary),
    ]),
  ];
  const acts = {
    asks,
    asksWish: has('asksWish') && asks.length === 0,
    proposes: has('proposes'),
    offersMore: has('offersMore'),
    reportsDone: has('reportsDone'),
    refuses: has('refuses'),
    handsOff: has('handsOff'),
    greets: has('greets'),
    saysGoodbye: has('saysGoodbye'),
    notUnderstood: has('notUnderstood'),
    waits: has('waits'),
    informs: has('informs'),
    asksOther: asks.length === 0 && has('asksOther'),
  };
  const isSomething =
    Object.values(acts).some((act) => (Array.isArray(act) ? act.length > 0 : act)) ||
    has('acknowledges') ||
    isEnglish(all);
  return { ...acts, nonsense: !isSomething };
}

type Acts = Omit<AgentActs, 'nonsense'> & { readonly acknowledges: boolean };

/** The acts of an utterance that does nothing. */
const silence: AgentActs = {
  asks: [],
  asksOther: false,
  asksWish: false,
  proposes: false,
  offersMore: false,
  reportsDone: false,
  refuses: false,
  handsOff: false,
  greets: false,
  saysGoodbye: false,
  notUnderstood: false,
  waits: false,
  informs: false,
  nonsense: false,
};

/** Recognises the dialogue acts of one sentence. */
function classify(sentence: Sentence, vocabulary: Vocabulary): Acts {
  const { text, question } = sentence;
  const words = wordsOf(text);
  const offersMore = isOffer(text, question);
  const notUnderstood = isMisunderstanding(text);
  const asksWish = !offersMore && patterns.agentActs.asksWish.test(text);
  const proposes = vocabulary.proposes(sentence) || isProposalSentence(sentence);
  const asks =
    offersMore || notUnderstood || wishForDeed.test(text)
      ? []
      : [
          ...factsAskedIn(withoutNeedless(sentence), vocabulary, proposes),
          ...(proposes ? [] : kindsAskedIn(withoutNeedless(sentence), vocabulary)),
        ];
  const says = (phrases: Vocabulary['refusals']) => phrases.some((phrase) => phrase.test(text));
  const handsOff = says(vocabulary.handOffs) || (!question && !proposes && handsOver(text));
  const refuses = says(vocabulary.refusals) || (!question && !notUnderstood && isDeclined(text));
  const reportsDone = !question && !proposes && !refuses && !asks.length && isReport(text);
  const waits = !question && patterns.agentActs.waits.test(text);
  const topical = words.some((word) => vocabulary.words.has(word) || serviceWords.has(word) || /\d/.test(word));
  const isPlain =
    !question && !offersMore && !proposes && !handsOff && !refuses && !reportsDone && !waits && !notUnderstood;
  const answersWell = addressesUser.test(text);
  return {
    asks,
    asksWish,
    proposes,
    offersMore,
    reportsDone,
    refuses,
    handsOff,
    greets: patterns.agentActs.greets.test(text),
    saysGoodbye: patterns.agentActs.saysGoodbye.test(text),
    notUnderstood,
    waits,
    informs:
      isPlain &&
      topical &&
      asks.length === 0 &&
      words.length >= 3 &&
      !patterns.agentActs.acknowledges.test(text.split(/[ ,]/).slice(0, 2).join(' ')),
    asksOther:
      question &&
      !offersMore &&
      !proposes &&
      !asksWish &&
      !notUnderstood &&
      asks.length === 0 &&
      (topical || answersWell),
    acknowledges: patterns.agentActs.acknowledges.test(text),
  };
}
