import type { Found, PersonalKind } from './kind.ts';
import { numbersIn } from './numbers.ts';
import { matchesOf } from './text/matches.ts';
import { Sign, signsIn } from './text/signs.ts';
import {
  hostsOfPersons,
  identified,
  nationalIds,
  noPerson,
  places,
  streetEndings,
  streets,
  streetsBefore,
  streetsBehind,
  streetsInFrench,
  streetsInRussian,
  townsOfFourDigits,
} from './words.ts';

/** A town may be behind its postcode: 28014, 00-590, 111 36, 1200-195, D-10435, 1017 BV. */
const codeBefore = String.raw`(?:(?:[A-Z]{1,2}-)?\d{2,6}(?:[ -]\d{2,4})?(?:[ ][A-Z]{2})?[ \t]+)?`;
const town = String.raw`(?:,[ \t]*${codeBefore}\p{Lu}[\p{L}'’-]+(?![\p{L}\p{N}])(?:[ \t]\p{Lu}[\p{L}'’-]+(?![\p{L}\p{N}])){0,2})?`;
const article = '(?:de|del|della|delle|degli|dei|di|da|das|do|dos|las?|los|el|san|santa)';
/** Words behind which four digits before a town are something else: a number of something, or a year. */
const noPostcodeBehind = String.raw`\b(?:[Ff]light|[Tt]rain|[Bb]us|[Rr]oom|[Gg]ate|[Ll]ine|[Nn]o\.?|[Nn]r\.?|[Nn]umber|Flug|Zug|Zimmer|Linie|Nummer|[Vv]ol)[ ]|(?:\p{L}{2,9}|\d\.),?[ ](?=(?:19|20)\d{2}[ ])`;
const account = String.raw`[\p{L}\p{N}_](?:[\p{L}\p{N}._-]{1,62}[\p{L}\p{N}_])`;
const noPersonHere = `(?!(?:${noPerson})(?![\\p{L}\\p{N}._-]))`;

/** Matches the text between a word and its value: "PIN is 4711", "PIN - 4711", "PIN => 4711". */
const sign = '(?:[:=|–—-]|->|=>|→)';
const jointWith = (verbs: string) =>
  String.raw`(?:[ \t]{0,4}${sign}|[ \t]{1,4}(?:is|was|are|of|ist|lautet|est|es|è|é${verbs})(?![\p{L}\p{N}])|,){0,2}[ \t]{0,8}(?<![\p{L}\p{N}])`;
const joint = jointWith('');
const jointOfPostcode = jointWith('|to|är|er|je');
/** The same behind words that are in many sentences: there a dash needs a number to be announced. */
const jointOfNumber = String.raw`(?: is| was|:|,|=|(?<=(?:number|no\.?|nr\.?|id|code|ref|reference|#))[ \t]{0,4}${sign})?`;

/** Matches a postcode. Words behind it are not its second group, which has a digit. */
const postcode = String.raw`(?:\p{L}{1,2}\d[\p{L}\d]?[ -]?\d[\p{L}\d]{2}|\p{L}\d[\dw][ ]?(?=\p{L}{0,3}\d)[\p{L}\d]{4}|(?:\p{L}{1,2}-)?(?:\d{3}[ ]\d{2,3}|\d{2,5}-\d{3,4})|\p{L}{0,2}-?\d[\p{L}\d]{2,8})(?![\p{L}\p{N}])`;
/** In the Netherlands the second group is two capitals. */
const postcodeWithCapitals = String.raw`[1-9]\d{3}[ ][A-Z]{2}(?![\p{L}\p{N}])`;

/** An address as people say it: jane dot roe at mail dot example dot org, and so in brackets. */
function spelledEmail(at: string, dot: string): string {
  const joint = (words: string) => String.raw`(?:[ ](?:${words})[ ]|[ ]?[(\[][ ]?(?:${words})[ ]?[)\]][ ]?)`;
  const local = String.raw`(?:[\p{L}\p{N}._+-]{1,64}${joint(`${dot}|underscore|dash|hyphen|minus|plus|Unterstrich|Bindestrich`)}){0,3}`;
  const domain = String.raw`[\p{L}\p{N}-]{1,63}(?:(?:\.|${joint(dot)})[\p{L}\p{N}-]{1,63}){0,3}?`;
  return String.raw`(?<![\p{L}\p{N}])${local}[\p{L}\p{N}._+-]{1,128}${joint(at)}${domain}(?:\.|${joint(dot)})\p{L}{2,6}(?![\p{L}\p{N}])(?!${joint(dot)})`;
}

/**
 * Each pattern finds one kind in a text that has all the signs it needs; where a group `value` is in it, that alone is the
 * value. Parts that could continue for ever have an end, far behind what real ones have: a log may hold a picture as one
 * word of a megabyte.
 */
const patterns: readonly (readonly [PersonalKind, needs: number, RegExp, cue?: Pick<RegExp, 'test'>])[] = [
  [
    'email',
    Sign.at,
    // Two addresses may be next to each other without a sign between them.
    /[\p{L}\p{N}._'+-]{0,127}[\p{L}\p{N}](?:(?:@|[ ]@[ ]|%40)[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?(?:\.[\p{L}\p{N}-]{0,62}[\p{L}\p{N}]){1,9}){1,4}/gu,
    /@|%40/,
  ],
  [
    'email',
    Sign.gap,
    new RegExp(spelledEmail('at|AT|At', 'dot|DOT|Dot|Punkt|PUNKT|punkt'), 'gu'),
    /[ ([](?:at|AT|At)[ )\]]/,
  ],
  [
    'email',
    Sign.gap,
    new RegExp(spelledEmail('arroba|arobase|chiocciola|ät', 'punto|point|ponto|dot|Punkt'), 'gu'),
    /arroba|arobase|chiocciola|ät/,
  ],
  [
    'iban',
    Sign.digit,
    /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?:[ \u00a0\u202f-]?[A-Z0-9]{4}){2,7}(?:[ \u00a0\u202f-]?[A-Z0-9]{1,4})?(?![\p{L}\p{N}])/giu,
    /[A-Z]{2}\d{2}/i,
  ],
  [
    'ip',
    Sign.digit | Sign.dot,
    /(?<![\p{N}.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\p{N}]|\.\p{N})/gu,
    /\d\.\d{1,3}\./,
  ],
  // An empty group or eight groups distinguish it from other groups of digits with colons; a MAC address has six pairs.
  [
    'ip',
    Sign.colon,
    /(?<![\p{L}\p{N}:])(?=[0-9a-fA-F:]{0,39}::|(?:[0-9a-fA-F]{1,4}:){7}|(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}(?![\p{L}\p{N}:]))(?:[0-9a-fA-F]{1,4}:){2,7}(?::?[0-9a-fA-F]{1,4}){1,7}(?![\p{L}\p{N}:])/gu,
    /[0-9a-fA-F]:[0-9a-fA-F:]/,
  ],
  [
    'ip',
    Sign.dash,
    /(?<![\p{L}\p{N}-])(?:[0-9a-fA-F]{2}-){5}[0-9a-fA-F]{2}(?![\p{L}\p{N}-])/gu,
    /[0-9a-fA-F]-[0-9a-fA-F]{2}-[0-9a-fA-F]/,
  ],
  [
    'address',
    Sign.digit | Sign.space | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])\d{1,5}[a-zA-Z]?[ \t]+(?:\p{Lu}[\p{L}'’.-]*[ \t]+){1,3}(?:${streets})\b\.?${town}`,
      'gu',
    ),
    /\d[a-zA-Z]?[ \t]+[A-Z\u0080-\uffff]/,
  ],
  [
    'address',
    Sign.digit | Sign.space | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:\p{Lu}[\p{L}-]{0,40}[ -])?\p{Lu}[\p{L}-]{0,40}(?:${streetEndings}|str\.)[ \t]+\d{1,4}[a-z]?(?:/\d{1,4}){0,3}${town}`,
      'gu',
    ),
    new RegExp(String.raw`(?:${streetEndings}|str\.)[ \t]+\d`),
  ],
  [
    'address',
    Sign.digit | Sign.space | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])\d{1,4}(?:[ ]?(?:bis|ter))?,?[ \t]+(?:[Rr]ue|[Aa]venue|[Bb]oulevard|[Pp]lace|[Cc]hemin|[Ii]mpasse|[Qq]uai|[Cc]ours|[Aa]llée|[Rr]oute|[Pp]assage)(?:[ \t]+(?:de|du|des|la|le|les|l['’]|d['’]))*(?:[ \t]*\p{Lu}[\p{L}'’-]+){1,3}${town}`,
      'gu',
    ),
    /\d(?:[ ]?(?:bis|ter))?,?[ \t]+[RrAaBbPpCcIiQq]/,
  ],
  [
    'address',
    Sign.digit | Sign.space | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${streetsBefore})[ \t]*(?:${article}[ \t]+){0,3}\p{Lu}[\p{L}'’-]+(?:[ \t]+(?:${article}[ \t]+){0,2}\p{Lu}[\p{L}'’-]+){0,3},?[ \t]+(?:n[º°.]?[ \t]*)?\d{1,4}[a-zA-Z]?(?![\p{L}\p{N}])${town}`,
      'gu',
    ),
    new RegExp(streetsBefore),
  ],
  [
    'address',
    Sign.digit | Sign.space | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${streetsInFrench})(?:[ \t]+(?:[ld]['’])?\p{Lu}[\p{L}'’-]+){1,3},?[ \t]+\d{1,4}[a-zA-Z]?(?![\p{L}\p{N}])${town}`,
      'gu',
    ),
    new RegExp(streetsInFrench),
  ],
  [
    'address',
    Sign.digit | Sign.space | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:\p{Lu}[\p{L}-]{0,40}(?:straat|laan|plein|gracht|kade|dijk|singel|gatan|vägen|gade|vej|veien|gata|intie|entie|katu|kuja|kaari|polku)|\p{Lu}[\p{L}-]{1,40} (?:Str\.|Straße|Strasse|Weg|Platz|Allee|Gasse))[ \t]+\d{1,4}[a-zA-Z]?(?:/\d{1,4}){0,3}(?![\p{L}\p{N}])${town}`,
      'gu',
    ),
    /(?:straat|laan|plein|gracht|kade|dijk|singel|gatan|vägen|gade|vej|veien|gata|intie|entie|katu|kuja|kaari|polku|Str\.|Straße|Strasse|Weg|Platz|Allee|Gasse)[ \t]+\d/,
  ],
  [
    'address',
    Sign.digit | Sign.space,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:Am|An de[rnm]|Im|In de[rnm]|Auf de[rnm]|Zum|Zur|Unter den|Beim)[ ](?:\p{Lu}[\p{L}-]+[ ]){0,2}\p{Lu}?[\p{L}-]*(?:${places})[ ]\d{1,3}[a-z]?(?![\p{L}\p{N}])${town}`,
      'giu',
    ),
    new RegExp(`(?:${places})[ ]\\d`, 'iu'),
  ],
  [
    'address',
    Sign.digit | Sign.space | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])\p{Lu}[\p{L}-]{1,40}[ ](?:\p{Lu}[\p{L}-]{1,40}[ ]){0,2}(?:${streetsBehind})[ ]+(?:[Nn]o[.:]{0,2}[ ]*)?\d{1,4}[a-zA-Z]?(?![\p{L}\p{N}])${town}`,
      'gu',
    ),
    new RegExp(`(?:${streetsBehind})[ ]`),
  ],
  [
    'address',
    Sign.digit,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${streetsInRussian})[ ]*\p{Lu}[\p{L}-]{1,40}(?:[ ]\p{Lu}[\p{L}-]{1,40}){0,2},?[ ]*(?:(?:д|дом|буд)\.?[ ]*)?\d{1,4}(?:,?[ ]*(?:кв|корп|к|стр)\.?[ ]*\d{1,4}){0,2}(?![\p{L}\p{N}])${town}`,
      'gu',
    ),
    /[\u0400-\u04ff]/,
  ],
  [
    'address',
    Sign.digit | Sign.space | Sign.capital,
    /(?<![\p{L}\p{N}])(?:P\.?[ ]?O\.? Box|Postfach)[ \t]+\d+/gu,
    /Box|Postfach/,
  ],
  [
    'postcode',
    Sign.digit | Sign.capital,
    /(?<![\p{L}\p{N}])[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}(?![\p{L}\p{N}])/gu,
    /\d[A-Z]{2}/,
  ],
  [
    'postcode',
    Sign.digit,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:post ?code|postal code|zip(?: ?code)?|PLZ|Postleitzahl|c[oó]digo postal|code postal|codice postale|kod pocztowy|PSČ|postnummer)(?:'s)?(?: number)?${jointOfPostcode}(?<value>${postcode})`,
      'giu',
    ),
    /post|zip|plz|poczt|psč/iu,
  ],
  [
    'postcode',
    Sign.digit | Sign.space | Sign.capital,
    new RegExp(String.raw`(?<![\p{L}\p{N}])[Pp]ostcode${joint}(?<value>${postcodeWithCapitals})`, 'gu'),
    /[Pp]ostcode/,
  ],
  // In other cases these are words of other meanings.
  [
    'postcode',
    Sign.digit | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:CAP|CEP)${jointOfPostcode}(?<value>\d{5}(?:-\d{3})?)(?![\p{L}\p{N}])`,
      'gu',
    ),
    /C[AE]P/,
  ],
  [
    'postcode',
    Sign.digit | Sign.space | Sign.capital,
    /\b(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY])[ ]+(?<value>\d{5}(?:-\d{4})?)(?!\d)/gu,
    /[A-Z][ ]+\d{5}/,
  ],
  [
    'postcode',
    Sign.digit | Sign.capital,
    /(?<![\p{L}\p{N}])[A-CEGHJ-NPR-TVXY]\d[A-Z][ -]?\d[A-Z]\d(?![\p{L}\p{N}])/gu,
    /[A-Z]\d[A-Z][ -]?\d[A-Z]\d/,
  ],
  [
    'postcode',
    Sign.digit | Sign.space | Sign.capital,
    /(?<=\p{Ll}[ ]{1,3}(?:NSW|VIC|QLD|SA|WA|TAS|ACT|NT)[ ]{1,3})\d{4}(?!\d)/gu,
    /[A-Z][ ]{1,3}\d{4}/,
  ],
  [
    'postcode',
    Sign.digit | Sign.space | Sign.capital,
    /(?<=,[ ]\p{Lu}\p{Ll}{2,20}[ ](?:[–-][ ]?)?)[1-9]\d{2}[ ]?\d{3}(?![\p{L}\p{N}])/gu,
    /[1-9]\d{2}[ ]?\d{3}/,
  ],
  [
    'postcode',
    Sign.digit | Sign.space | Sign.capital,
    /(?<=\d[a-zA-Z]?,[ ])(?:\d{2}-\d{3}|\d{3}[ ]\d{2}|\d{4}-\d{3})(?=[ ]+\p{Lu}\p{Ll}+)/gu,
    /\d[a-zA-Z]?,[ ]\d/,
  ],
  [
    'postcode',
    Sign.digit | Sign.space | Sign.capital,
    /(?<=\d[a-zA-Z]?,[ ])[1-9]\d{3}[ ]?[A-Z]{2}(?=[ ]+\p{Lu}\p{Ll}+)/gu,
    /\d[a-zA-Z]?,[ ]\d/,
  ],
  [
    'postcode',
    Sign.digit | Sign.space | Sign.capital,
    /(?<![\p{L}\p{N}-])(?:A|AT|B|BE|CH|DK|FL|L|LU|H|SI)-(?<value>\d{4})(?=[ ]+\p{Lu}\p{Ll}+)/gu,
    /[A-Z]-\d{4}[ ]/,
  ],
  [
    'postcode',
    Sign.digit | Sign.space | Sign.capital,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}.,#-]|${noPostcodeBehind})\d{4}(?=[ ]+(?:${townsOfFourDigits})(?![\p{L}\p{N}]))`,
      'gu',
    ),
    /\d{4}[ ]/,
  ],
  [
    'postcode',
    Sign.digit | Sign.space,
    /(?<=\b(?:liv(?:e|ed|es|ing)|mov(?:e|ed|ing)|lebe|wohn(?:e|en|haft)|gezogen|umziehen|woon|habite|habitons)[ ](?:in|to|at|nach|à)[ ])[1-9]\d{3}(?=[ ]+\p{Lu}\p{Ll}{2,})/giu,
    /[ ][1-9]\d{3}[ ]/,
  ],
  [
    'postcode',
    Sign.digit | Sign.space | Sign.capital,
    /(?<![\p{L}\p{N}.,-])(?:D-)?(?<value>\d{5})(?=[ ]+\p{Lu}\p{Ll}+)/gu,
    /\d{5}[ ]/,
  ],
  [
    'card',
    Sign.digit | Sign.space,
    /\b(?:end(?:s|ing|ed)?(?: in| with)|ending|last (?:four|4)(?: digits)?(?: are| is|:| of [^.\d]{0,30})?|visa|mastercard|amex|maestro|discover|card)[ \t]+(?:number[ \t]+)?(?:is[ \t]+)?[x*•. -]{0,20}(?<value>\d{4})(?![\p{L}\p{N}]|[., -]?\d)/giu,
    /end|last|visa|mastercard|amex|maestro|discover|card/iu,
  ],
  [
    'card',
    Sign.digit,
    /(?<![\p{L}\p{N}])(?:[xX*•#]{2,4}[ -]?){1,4}(?<value>\d{4})(?![\p{L}\p{N}])/gu,
    /[xX*•#]{2}[ -]?[\dxX*•#]/,
  ],
  [
    'card',
    Sign.digit,
    new RegExp(
      String.raw`\b(?:(?:cvv2?|cvc2?)(?: ?(?:code|number|nummer))?|security code|verification (?:value|code|number))["']?${joint}["']?(?<value>\d{3,4})(?![\p{L}\p{N}])`,
      'giu',
    ),
    /cv|code|verification/iu,
  ],
  [
    'id',
    Sign.digit,
    new RegExp(
      String.raw`\b(?:${identified})s?(?:[ -]?(?:number|no\.?|nr\.?|id|code|ref(?:erence)?|#))*${jointOfNumber}[ \t]*(?:is[ \t]+)?[#№]?(?<value>(?=[\p{L}\d_-]*\d[\p{L}\d_-]*\d)[\p{L}\d][\p{L}\d_-]{2,}[\p{L}\d])(?![\p{L}\p{N}])`,
      'giu',
    ),
  ],
  [
    'id',
    Sign.digit,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:(?:Bestell|Kunden|Rechnungs|Auftrags|Vertrags|Sendungs|Mitglieds|Konto)(?:nummer|-?nr\.?)|(?:bestel|klant|order|factuur|kund|faktura)nummer|(?:número|nº|n\.º|numero) (?:de |d['’] ?|di )?(?:pedido|cliente|factura|fatura|ordine|encomenda)|numéro de (?:commande|client|facture|contrat))${joint}#?(?<value>(?=[\p{L}\d_-]*\d[\p{L}\d_-]*\d)[\p{L}\d][\p{L}\d_-]{2,}[\p{L}\d])(?![\p{L}\p{N}])`,
      'giu',
    ),
    /nummer|nr|n[uú]m[eé]ro|nº|n\.º/iu,
  ],
  [
    'id',
    Sign.digit,
    new RegExp(String.raw`\bsort ?code${joint}(?<value>\d{2}[- ]?\d{2}[- ]?\d{2})(?![\p{L}\p{N}])`, 'giu'),
    /sort/iu,
  ],
  [
    'id',
    Sign.digit,
    new RegExp(
      String.raw`\b(?:(?:licen[cs]e|number|registration) plate|registration number|Kennzeichen|matrícula)(?: number)?${joint}(?<value>(?=[A-Z \d-]{0,9}\d)[A-Z\d]{1,4}(?:[ -]?[A-Z\d]{1,4}){1,3})(?![\p{L}\p{N}])`,
      'gu',
    ),
    /plate|registration|Kennzeichen|matrícula/,
  ],
  [
    'id',
    Sign.space,
    /\b(?:insta(?:gram)?|twitter|telegram|tiktok|snapchat|discord|skype)(?: handle| name| account| id| user(?:name)?)?(?: is|:| was|[ \t]{1,4}(?:[=|–—-]|->|=>|→))[ \t]+@?(?<value>[\p{L}\p{N}_][\p{L}\p{N}._-]+[\p{L}\p{N}_])/giu,
    /insta|twitter|telegram|tiktok|snapchat|discord|skype/i,
  ],
  [
    'id',
    Sign.digit,
    new RegExp(
      String.raw`(?<![\p{L}\p{N}])(?:${nationalIds})(?:[ -]?(?:number|nummer|nr\.?|no\.?|card))?${joint}(?<value>(?=(?:\P{N}{0,6}\p{N}){5})[A-Z]{0,6}\d[\dA-Z]*(?:[ ./-][\dA-Z]*\d[\dA-Z]*){0,6})(?![\p{L}\p{N}])`,
      'giu',
    ),
    new RegExp(nationalIds, 'iu'),
  ],
  // The number of the British National Insurance, as it is written with spaces.
  [
    'id',
    Sign.digit | Sign.capital,
    /(?<![\p{L}\p{N}])[A-Z]{2}(?:[ -]\d{2}){3}[ -][A-D](?![\p{L}\p{N}])/gu,
    /[A-Z][ -]\d{2}[ -]\d{2}/,
  ],
  [
    'id',
    Sign.space,
    /\b(?:user[ -]?name|log ?in(?: name)?|screen[ -]?name|nick(?:name)?|handle|gamertag)(?: is|:| was|[ \t]{1,4}(?:[=|–—-]|->|=>|→))[ \t]+@?(?<value>(?=[\p{L}\p{N}._-]*[\p{N}_])[\p{L}\p{N}][\p{L}\p{N}._-]*[\p{L}\p{N}_])/giu,
    /name|log|handle|gamertag|nick/i,
  ],
  // Who somebody is is in addresses of pages and files, too.
  [
    'id',
    Sign.colon | Sign.slash,
    new RegExp(
      String.raw`(?<=://(?:www\.)?(?:${hostsOfPersons})/(?:@|in/|u/|user/|profile/)?)${noPersonHere}${account}`,
      'giu',
    ),
    /:\/\//,
  ],
  [
    'id',
    Sign.slash,
    new RegExp(
      `(?<=/(?:users?|profiles?|people|members?|accounts?|customers?|authors?)/)${noPersonHere}${account}`,
      'giu',
    ),
    /\/[a-z]{4,9}\//iu,
  ],
  [
    'id',
    Sign.mark,
    new RegExp(`(?<=[?&](?:user|user_?name|login|uid|user_?id|account|customer|customer_?id)=)${account}`, 'giu'),
    /[?&]/,
  ],
  ['id', Sign.colon | Sign.slash, /(?<=:\/\/)[^\s:/@?#]{1,64}(?::[^\s/@?#]{0,64})?(?=@)/gu, /:\/\//],
  [
    'id',
    Sign.slash,
    new RegExp(String.raw`(?<=\\Users\\|(?<![\p{L}\p{N}.])/(?:home|Users)/)${noPersonHere}${account}`, 'giu'),
    /\/home\/|[\\/]Users[\\/]/iu,
  ],
  [
    'id',
    Sign.dash,
    /(?<![\p{L}\p{N}])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\p{L}\p{N}])/giu,
    /[0-9a-f]{8}-[0-9a-f]{4}-/i,
  ],
  // Keys of services, by what they begin with; what opens a door, by the word before it.
  [
    'id',
    0,
    /(?<![\p{L}\p{N}_-])(?:[spr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox[abpr]-|hf_|AKIA|ASIA|AIza|eyJ[\w-]{6,400}\.)[\w.-]{8,400}[\w]/gu,
    /[spr]k[-_]|gh[pousr]_|github_pat_|glpat-|xox|hf_|AKIA|ASIA|AIza|eyJ/,
  ],
  [
    'id',
    Sign.joint,
    /\b(?:pass ?(?:word|code|phrase)|passwd|pwd|pin(?: code| number)?|secret|(?:access |auth |bearer |refresh )?token|api[ _-]?key|access[ _-]?key|otp|(?:one[ -]time|verification|security|login) code|one[ -]time password)(?:[ ]?[:=][ ]?|[ ](?:(?:is|was)[ :]|(?:[|–—-]|->|=>|→)[ ]|(?<!token )of[ ])[ ]?(?=[^\s"',;]{0,60}[\d!#$%&*+@^~]))["'`]?(?<value>[^\s"'`,;]{3,200}[^\s"'`,;.!?])/giu,
    /pass|pwd|pin|secret|token|key|otp|one[ -]time|code/iu,
  ],
  ['id', Sign.digit | Sign.space, /\bpin(?: code| number)?[ ](?<value>\d{4,8})(?![\p{L}\p{N}]|[.,]\d)/giu, /pin/i],
  ['id', Sign.space, /\bbearer[ ](?<value>[\w.~+/-]{12,400}=*)/giu, /bearer/i],
  ['id', Sign.at, /(?<![\p{L}\p{N}.@])@[\p{L}\p{N}_]{3,}/gu, /@/],
  ['id', Sign.mark, /[#№](?<value>(?=[\p{L}\d-]*\d)[\p{L}\d][\p{L}\d-]{2,})/gu, /[#№]/],
  // A word of letters and digits that no one says: a code of some system.
  [
    'id',
    Sign.digit,
    /(?<![\p{L}\p{N}_-])(?=[\p{L}\d]*\p{L})(?=(?:[\p{L}]*\d){3})[\p{L}\d]{5,}(?![\p{L}\p{N}])/gu,
    /\p{L}\d|\d\p{L}/u,
  ],
];

/**
 * Returns personal data that the form of a text, or the words before it, indicate.
 * @param lead the text before it
 */
export function patternsIn(text: string, lead = ''): readonly Found[] {
  const signs = signsIn(text);
  const fitting = patterns.filter(([, needs, , cue]) => (signs & needs) === needs && (!cue || cue.test(text)));
  const found = fitting.flatMap(([kind, , pattern]) =>
    matchesOf(pattern, text).map((match): Found => {
      const value = match.groups?.['value'] ?? match[0];
      const start = match.index + match[0].lastIndexOf(value);
      return { kind, start, end: start + value.length };
    }),
  );
  const checked = found.flatMap((each) => (each.kind === 'iban' ? (ibanOf(text, each) ?? []) : [each]));
  return signs & Sign.digit ? [...checked, ...numbersIn(text, lead)] : checked;
}

/** Returns the IBAN that a row of groups begins with; null where its check digits are of none and no one calls it one. */
function ibanOf(text: string, { start, end }: Found): Found | null {
  const whole = text.slice(start, end);
  for (
    let value = whole;
    value.length >= 15;
    value = value.replace(/(?:[ \u00a0\u202f-][^ \u00a0\u202f-]*|[^ -])$/, '')
  )
    if (isIban(value)) return { kind: 'iban', start, end: start + value.length };
  if (!/iban[^\p{L}\p{N}]{0,4}(?:(?:is|ist|est|es|è) )?$/iu.test(text.slice(Math.max(0, start - 13), start)))
    return null;
  // Of a mistyped IBAN the length alone shows where it ends, and otherwise its last digit.
  const length = lengthOfIban(whole);
  const own =
    length === undefined ? null : new RegExp(`^(?:[^a-z0-9]?[a-z0-9]){${length}}(?![a-z0-9])`, 'i').exec(whole);
  const value = own?.[0] ?? whole.replace(/(?:[ \u00a0\u202f-][a-z]+)+$/i, '');
  return { kind: 'iban', start, end: start + value.length };
}

/**
 * Returns the part of the value of a field that is an IBAN or a postcode, where a sentence continues behind it. A name or a
 * town stays a part of the value.
 */
export function withoutSentence(kind: PersonalKind | null, value: string): string {
  const end = kind === 'iban' ? endOfIban(value) : kind === 'postcode' ? startOfPostcode.exec(value)?.[0].length : 0;
  return end && /^[ ]\p{Ll}{2}/u.test(value.slice(end)) ? value.slice(0, end) : value;
}

const endOfIban = (value: string) => patternsIn(value).find(({ kind, start }) => kind === 'iban' && start === 0)?.end;
const startOfPostcode = new RegExp(`^(?:${postcodeWithCapitals}|${postcode})`, 'u');

/** The length of an IBAN in each country (ISO 13616). */
const ibanLengths = new Map(
  `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24
  FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32
  LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24
  RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
    .split(/\s+/)
    .map((each) => [each.slice(0, 2), Number(each.slice(2))]),
);

const lengthOfIban = (value: string) => ibanLengths.get(value.slice(0, 2).toUpperCase());

/** Whether the length of an IBAN and its check digits are right (ISO 7064, MOD 97-10). */
function isIban(value: string): boolean {
  const length = lengthOfIban(value);
  const plain = value.replace(/[ \u00a0\u202f-]/g, '').toUpperCase();
  // Lower case is also that of words, so that the country is needed there.
  if (length === undefined ? value !== value.toUpperCase() : plain.length !== length) return false;
  const digits = `${plain.slice(4)}${plain.slice(0, 4)}`.replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return plain.length >= 15 && plain.length <= 34 && BigInt(digits) % 97n === 1n;
}
