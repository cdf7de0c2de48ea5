/** Words of chats and their full forms, each matched as a whole word. */
const shortForms: Readonly<Record<string, string>> = {
  pls: 'please',
  plz: 'please',
  plse: 'please',
  u: 'you',
  ya: 'you',
  ur: 'your',
  r: 'are',
  yr: 'your',
  thx: 'thanks',
  tnx: 'thanks',
  thanx: 'thanks',
  ty: 'thank you',
  yh: 'yeah',
  yea: 'yeah',
  yess: 'yes',
  ye: 'yes',
  yas: 'yes',
  kk: 'ok',
  okey: 'okay',
  okie: 'okay',
  oki: 'okay',
  np: 'no problem',
  nvm: 'never mind',
  nevermind: 'never mind',
  idk: 'i do not know',
  dunno: 'do not know',
  tbh: 'to be honest',
  bc: 'because',
  cuz: 'because',
  coz: 'because',
  cos: 'because',
  tmrw: 'tomorrow',
  tmr: 'tomorrow',
  acc: 'account',
  addy: 'address',
  msg: 'message',
  num: 'number',
  wat: 'what',
  wot: 'what',
  wut: 'what',
  wich: 'which',
  whish: 'which',
  giv: 'give',
  gimme: 'give me',
  lemme: 'let me',
  wanna: 'want to',
  gonna: 'going to',
  gotta: 'have to',
  abt: 'about',
  rly: 'really',
  def: 'definitely',
  defo: 'definitely',
  deffo: 'definitely',
  definately: 'definitely',
  definatly: 'definitely',
  procede: 'proceed',
  proceede: 'proceed',
  recieve: 'receive',
  recieved: 'received',
  emial: 'email',
  hav: 'have',
  shud: 'should',
  cud: 'could',
  wud: 'would',
  ordr: 'order',
  shure: 'sure',
  allright: 'alright',
  insted: 'instead',
  w8: 'wait',
  gr8: 'great',
  b4: 'before',
  m8: 'mate',
  em: 'them',
  '2day': 'today',
};

/** Words in which a spelling mistake would change what an utterance does. */
const keyWords =
  'yes yeah sure not the and you your what when where which who how why can could would will should shall does did have has this that there with from want need give tell send take make know find call help else more any also please thanks thank sorry okay fine right correct proceed confirm agree agreed accept accepted approve approved confirmed authorised cancel change update return refund exchange replace deliver address number order parcel email phone postcode reason colour color size date name account anything something everything another instead rather actually before unless without because cannot ahead continue transfer connect colleague human person possible unable allowed policy questions question about right still just already';

/** Words that are a key word with letters swapped or left out, and English all the same. */
const realWords = new Set(
  'form own now won no on was saw sue use tow two quiet quite who how hand has had hat than then this thin sire sir sur your you our out sad mad ether three fro for ear are were here ate tea eat sing son nor nod dna acre care cares race angel bale able nay worn form sized dates ages data mane amen mean man men tale late cane chang expire omen size sees live lived evil deal dale lead stale tales steal least nice line file life fire rife wire wish rights arrow alter later gave cold tank sill emil pone other'.split(
    ' ',
  ),
);

const misspellings = misspellingsOf(keyWords.split(' '));

/** Neighbouring letters swapped in words of three letters and more; in longer ones also a letter missing or doubled. */
function misspellingsOf(words: readonly string[]): ReadonlyMap<string, string> {
  const known = new Set(words);
  const found = new Map<string, string>();
  for (const word of words) {
    const letters = [...word];
    const swapped = letters
      .slice(1)
      .map((_, at) => word.slice(0, at) + word.charAt(at + 1) + word.charAt(at) + word.slice(at + 2));
    const shorter =
      word.length < 5
        ? []
        : letters.slice(1, word.length < 6 ? -1 : undefined).map((_, at) => word.slice(0, at + 1) + word.slice(at + 2));
    const longer =
      word.length < 5 ? [] : letters.slice(0, -1).map((letter, at) => word.slice(0, at) + letter + word.slice(at));
    for (const misspelling of [...(word.length < 3 ? [] : swapped), ...shorter, ...longer]) {
      if (!known.has(misspelling) && !realWords.has(misspelling) && !known.has(`${misspelling}s`))
        found.set(misspelling, word);
    }
  }
  return found;
}

/** A text in lower case with chat words written out and spelling mistakes in common words fixed. */
export function spelled(text: string): string {
  return text
    .replace(/\b(yes|ok|yeah|no)\1+\b/g, '$1')
    .replace(/(?<= )4 (?=(?:it|me|us|you|sure|real|now|that)\b)/g, 'for ')
    .replace(
      /^(\W*)ya(?= (?:\d+|the|to|both|for|my|all|go|do|that|it|please|pls|sure|ok|you|thanks|i)\b|[,.! ]*$|[,.!])/,
      '$1yes',
    )
    .replace(/(?<![\w'@.-])[a-z][a-z0-9]*(?![\w@]|'\w|\.\w|-\w)/g, (word) => {
      const full = Object.hasOwn(shortForms, word) ? shortForms[word] : misspellings.get(word);
      return full ?? word;
    });
}
