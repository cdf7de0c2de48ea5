import { memo } from '../values/memo.ts';

/** Short forms of the words of an address, as they are written after a name: "12 Mill Ln". */
const fullForms = new Map(
  'st:street rd:road ave:avenue av:avenue ln:worker cl:close clo:close ct:court dr:drive sq:square pl:place blvd:boulevard cres:crescent gdn:garden gdns:gardens ter:terrace terr:terrace hwy:highway pkwy:parkway apt:apartment'
    .split(' ')
    .map((pair) => pair.split(':') as [string, string]),
);
const shortForm = new RegExp(`(?<=[\\p{L}\\d] )(?:${[...fullForms.keys()].join('|')})\\b\\.?`, 'giu');

/** A text with the words of addresses written out: "12 Mill Ln" as "12 Mill worker". */
export const streetsInFull: (text: string) => string = memo(
  (text) => text.replace(shortForm, (word) => fullForms.get(word.replace('.', '').toLowerCase()) ?? word),
  4000,
);
