import { patterns } from './patterns.ts';

const { offers, noOffers } = patterns.offer;

/** Reports whether a sentence offers more help: "Is there anything else I can do?" */
export function isOffer(text: string, question: boolean): boolean {
  const isShort =
    question &&
    /\belse\b/.test(text) &&
    text.split(' ').length <= 5 &&
    !/^(?:who|where|what|which|how|when)\b/.test(text);
  return (offers.test(text) || isShort) && !noOffers.test(text);
}
