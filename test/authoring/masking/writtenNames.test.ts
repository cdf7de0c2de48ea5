import { expect, test } from 'vitest';
import { maskerOf, type Piece } from '../../../src/authoring/masking/masker.ts';

/** Returns the masked texts of one conversation. */
function masked(...pieces: readonly Piece[]): readonly string[] {
  const { text } = maskerOf({ seed: 'test' }).conversation(pieces);
  return pieces.map(({ value }) => text(String(value)));
}

const name = /Orla|Quennell/i;

test.each([
  ['My name is Quen\u00adnell', 'Dear Ms Quennell.'],
  ['My name is \u200bOr\u200bla Quen\u2060nell', 'Thanks \u202aOrla\u202c!'],
  ['I am Or\u200dla Quen\ufeffnell.', 'ORLA'],
  ['{"customer_name":"Or\u200bla Quen\u00adnell"}', 'Orla Quennell'],
  ['My name is Or&shy;la Quen&#8203;nell', 'Quen&shy;nell'],
])('a name with signs that have no width is masked: %j', (said, other) => {
  for (const made of masked({ value: said }, { value: other }))
    expect(made.replace(/&\S*?;|[\u00ad\u200b-\u200f\u202a-\u202e\u2060\ufeff]/g, '')).not.toMatch(name);
});

test.each(['The lamp is a soft\u00adly lit one.', 'می\u200cخواهم', '👩\u200d🔧'])(
  'a text without personal data keeps its signs without a width: %j',
  (text) => {
    expect(masked({ value: text })).toEqual([text]);
  },
);

test('joiners of a script and of a picture stay in a text that is masked', () => {
  const [made] = masked({ value: 'My name is Orla Quennell 👩\u200d🔧 می\u200cخواهم' });
  expect(made).toMatch(/^My name is \p{L}+ \p{L}+ 👩\u200d🔧 می\u200cخواهم$/u);
});

test.each([
  ['Passenger QUENNELL/ORLA MS', /^Passenger [A-Z]+\/[A-Z]+ MS$/],
  ['1.1QUENNELL/ORLA', /^1\.1[A-Z]+\/[A-Z]+$/],
  ['2 QUENNELL/ORLAMRS FRA/MUC', /^2 [A-Z]+\/[A-Z]+MRS FRA\/MUC$/],
  ['QUENNELL/ORLA A MR', /^[A-Z]+\/[A-Z]+ \S MR$/],
  ['FLIGHT FOR QUENNELL/ORLA MSTR', /^FLIGHT FOR [A-Z]+\/[A-Z]+ MSTR$/],
])('a name as airlines write it is masked: %s', (said, stays) => {
  const [made, other] = masked({ value: said }, { value: 'Orla Quennell' });
  expect(made).not.toMatch(name);
  expect(made).toMatch(stays);
  expect(other).not.toMatch(name);
});

test.each([
  'FRA/MUC and INPUT/OUTPUT of NMR/ASMR, PROGRAMS/FORMS',
  'CALL MRS OR/AND MR',
  'Version 1.1, 2.1 MB/KB, AND/OR MS',
  'Best: Brass Lamp',
  'He signed, sealed and delivered it. Is it signed, Sir?',
  '<loop><first>1</first><last>Monday</last></loop>',
  'first,last\nMonday,Friday',
])('a text in the shape of a name stays: %s', (text) => {
  expect(masked({ value: text })).toEqual([text]);
});

test.each([
  '> Signed, Orla',
  'Signed by Orla Quennell',
  'Signed, Orla',
  'Signed: Orla Quennell',
  'It was late.\n\nsigned,\nOrla Quennell',
  '  Signed, Orla Quennell.',
])('the name of a signature is masked: %j', (text) => {
  expect(masked({ value: text })[0]).not.toMatch(name);
});

test.each([
  '<customer><first>Orla</first><last>Quennell</last></customer>',
  '<customers><p><first>Orla</first><city/><last>Quennell</last></p></customers>',
  '<name><first>Orla</first></name>',
  '<x:First>Orla</x:First><x:Last>Quennell</x:Last>',
  '<a><first><![CDATA[Orla]]></first><last>Quennell</last></a>',
  '<a><given>Orla</given><family>Quennell</family></a>',
  '<c:person><c:firstName>Orla</c:firstName><c:lastName>Quennell</c:lastName></c:person>',
  '<row first="Orla" last="Quennell"/>',
  'id,first,last\n7,Orla,Quennell',
  '| first | last |\n| --- | --- |\n| Orla | Quennell |',
])('the parts of a name beside each other are masked: %s', (text) => {
  const [made, other] = masked({ value: text }, { value: 'Orla Quennell' });
  expect(made).not.toMatch(name);
  expect(other === 'Orla Quennell').toBe(false);
});

test.each([
  ['What is your name?', "It's Orla Quennell from Leeds"],
  ['What is your name?', 'Hi! It’s Orla from Leeds'],
  ['Who am I speaking with?', "Sure, it's Orla Quennell and I ordered a lamp"],
  ['May I ask with whom I am speaking?', "That's Orla Quennell, I ordered a lamp"],
  ['May I have your name?', `It's Orla Quennell. ${'I need to know when my lamp arrives. '.repeat(9)}`],
  ['May I have your name?', 'The name’s Orla Quennell — order 12'],
])('a name at the start of the answer to %s is masked: %s', (asked, value) => {
  const [made] = masked({ value, asked });
  expect(made).not.toMatch(name);
  expect(made?.slice(0, 3)).toBe(value.slice(0, 3));
});

test.each([
  ['What is your name?', "It's not about that. It's the Lamp in Brass."],
  ['What is your name?', "It's about the order, the Lamp is broken"],
  ['Is it the lamp?', "It's Brass from Leeds"],
])('an answer without a name stays: %s %s', (asked, value) => {
  expect(masked({ value, asked })).toEqual([value]);
});
