/*
 * The words by which masking tells personal data, as parts of patterns where they are joined by `|`, and those of which
 * it makes a name. What is Chinese, Japanese or Korean is in eastAsianNames.ts.
 */

/** Words that join those of a name. */
export const particles =
  'van von der den de del della delle di da das do dos du la le las los lo bin ibn ben bint al el abu ten ter zu zur af av i y e'.split(
    ' ',
  );
/** Forms of address before a name. */
export const titles =
  'Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Herr|Frau|Señora?|Mme|Mlle|Monsieur|Madame|Mevrouw|Meneer|Signora?|Senhora?|Pan[ií]|Rev|Reverend|Professor(?:in|a|e|essa)?|Professeure?|Profesora?|Doctora?|Doktor(?:in|ka)?|Docteure?|Dottor(?:e|essa)|Doutora?';
/** People of whom somebody says a name: "my wife Jane". */
export const relatives =
  'wife|husband|son|daughter|mother|father|mum|mom|dad|brother|sister|friend|partner|colleague|boss|neighbour|neighbor|assistant|fiancée?|girlfriend|boyfriend';
/** Phrases with which people introduce their name. */
export const introductions = [
  '[Mm]ein Name (?:ist|lautet)|[Ii]ch hei(?:ß|ss)e|[Mm]ijn naam(?: is|(?=:))|[Ii]k heet|[Jj]ag heter|[Mm]itt namn är|[Jj]eg (?:heter|hedder)|[Mm](?:itt|it) navn er',
  "[Mm]e llamo|[Mm]i nombre es|[Jj]e m['’]appelle|[Mm]on nom est|[Mm]i chiamo|[Ii]l mio nome è|[Mm]e chamo|[Cc]hamo-me|[Oo] meu nome é|[Mm]eu nome é",
  '[Nn]azywam się|[Mm]am na imię|[Mm]oje imię to|[Jj]menuj[iu] se|[Mm]é jméno je|[Vv]olám sa|[Nn]imeni on|[Мм]еня зовут|[Мм]оё имя|[Мм]ене звати|[Кк]азвам се',
  '[Zz]ovem se|[Ii]me mi je|[Aa] nevem|[Nn]umele meu este|[Mm]ă (?:numesc|cheamă)|[Bb]enim adım|[Aa]dım|[Μμ]ε λένε|[Οο]νομάζομαι',
  '[Ee]m dic|[Nn]ama saya|[Tt]ên (?:tôi|của tôi) là|[Tt]ôi tên là|[Jj]ina langu ni|[Aa]ng pangalan ko ay',
].join('|');
/** The same where the words say other things of somebody as well: "I am". */
export const introductionsBeforeTwo =
  '[Hh]ier (?:ist|spricht|is)|[Ii]ci|[Ss]ono|[Ii]k ben|[Ss]ou (?:o|a)|[Jj]estem|[Jj]ag är|[Jj]eg er|[Jj]sem|[Jj]a som|[Ii]ch bin (?:die|der)|[Ss]ono la';
/** The same in scripts that have no capitals to tell where a name ends. */
export const withoutCapitals = 'שמי|קוראים לי|اسمي|إسمي|मेरा नाम|میرا نام|نام من';
/** Words of the language: with none of them a name begins, and before each it ends. */
export const noName = new Set(
  `i you he she it we they me him her us them my your his its our their this that these those there here the a an and or
  but so if because when where what which who how why not no yes is are was were be been am do does did done have has had
  will would can could should shall may might must to of in on at for with from by about into out up down over after before
  until than then as very too just only also still already again now today tomorrow yesterday please thanks thank hello hi
  hey sorry good great fine right okay ok sure all any some more other another same first last next new need want like know
  think see look looking find take give get go going come make let help tell send calling trying writing wondering having
  happy glad afraid interested unable able ready waiting done sir madam customer support service team agent everyone
  anyone someone nobody folks guys morning afternoon evening day night welcome dear best kind regards wishes cheers
  monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
  november december order account number email address phone name card payment refund return cancel change delivery product
  item paypal visa mastercard amex gift actually really however perfect wonderful lovely correct exactly absolutely
  certainly unfortunately understood one two three speaking assistant assistance chat bot manager desk office shop
  shipping billing sales returns english german french spanish australia canada germany france london paris berlin
  uk usa us eu god goodness much again bye goodbye nice pleased frustrated upset annoyed angry confused disappointed
  question questions problem problems issue issues time times user thing things bug trouble concern request update error
  stuck lost quick simple different similar weird strange situation story everything something nothing somebody someone
  spelled spelt misspelled wrong und et och og quiero mi mijn ik je ich jag jeg eu vorrei pero aber maar mais men i и`.split(
    /\s+/,
  ),
);
/** Other words with which a question for a name or a password is answered. */
export const noAnswer = new Set(
  `none nope nah yep yeah yup skip pass anonymous private secret hidden unknown whatever nevermind never nobody dunno idk
  forgot forgotten stop quit exit operator human representative hold maybe both either neither hurry rather prefer decline
  refuse already obviously seriously guest cool awesome worked works don't won't can't cannot didn't isn't doesn't
  sent later soon alright fine excellent password username above below says said keep confirmed verified use using see`.split(
    /\s+/,
  ),
);
/** Words that are names too: they are masked where they are written large, and make a name only beside another. */
export const alsoWords = new Set(
  `will may april june august mark bill rose grace art frank hope joy faith dawn summer penny rich drew chase grant pat rob
  sue miles iris ivy lily violet ruby amber young king brown white black green gray grey long short little small best day
  price banks field wood woods stone hill park lane street church baker cook miller fox wolf rivers brook ford page bush
  rice berry sky star`.split(/\s+/),
);

/** Words for a street behind its name: 5 Mill Lane. */
export const streets =
  'Street|St|Road|Rd|Lane|Ln|Way|Avenue|Ave|Close|Drive|Dr|Court|Ct|Square|Sq|Place|Pl|Boulevard|Blvd|Terrace|Crescent|Row|Hill|Park|Gardens|Grove|Mews|Highway|Hwy|Parkway|Pkwy|Trail|Circle';
/** The same as a part of its last word: Hauptstraße 5. */
export const streetEndings = 'straße|strasse|weg|platz|allee|gasse|ring|damm|ufer';
/** Streets of languages that put the word for it first: Calle Mayor 5. */
export const streetsBefore =
  'Calle|C/|Avenida|Avda\\.?|Av\\.|Plaza|Paseo|Camino|Carrer|Via|Viale|Piazza|Corso|Rua|Praça|Travessa|[Uu]l\\.|[Uu]lica';
/** Words for a street that are apart behind its name: Kongens gate 6. */
export const streetsBehind =
  'gate|gata|vei|veg|väg|vej|plads|torg|allé|út|utca|tér|körút|náměstí|ulice|třída|nábřeží|trg|cesta|ulica|[Cc]addesi|[Ss]okağı|[Ss]okak|[Bb]ulvarı|[Mm]ahallesi';
/** The same where the number comes last: Rue Neuve 12. Words that mean more than a street need their article. */
export const streetsInFrench =
  '(?:Rue|Avenue|Boulevard|Chaussée|Chemin|Quai|Allée|Impasse)(?:[ \\t]+(?:de|du|des|la|le|les))*|(?:Place|Route|Cours|Square)(?:[ \\t]+(?:de|du|des|la|le|les)){1,2}';
/** Towns of countries whose postcodes are four digits, which other numbers are as well. */
export const townsOfFourDigits = [
  'Wien|Vienna|Graz|Linz|Salzburg|Innsbruck|Klagenfurt|Villach|Wels|Dornbirn|Bregenz|Steyr|Eisenstadt|Leoben|Krems|Feldkirch|Wiener Neustadt',
  'Z[üu]rich|Genf|Gen[èe]ve|Geneva|Basel|Berne?|Lausanne|Winterthur|Luzern|Lucerne|Lugano|Biel|Thun|Fribourg|Freiburg|Neuchâtel|Schaffhausen|Chur|Sion|Zug|Aarau|Olten|Vaduz|S(?:ank)?t\\.? (?:Gallen|Pölten)',
  'Bruxelles|Brussels?|Antwerpen|Antwerp|Anvers|Gent|Gand|Ghent|Liège|Luik|Charleroi|Brugge|Bruges|Namur|Leuven|Louvain|Mons|Mechelen|Kortrijk|Hasselt|Oostende|Ixelles|Uccle|Schaerbeek|Anderlecht|Luxembourg',
  'København|Copenhagen|Aarhus|Odense|Aalborg|Esbjerg|Frederiksberg|Roskilde|Oslo|Bergen|Trondheim|Stavanger|Tromsø|Drammen|Kristiansand',
  'Budapest|Debrecen|Szeged|Pécs|Győr|Ljubljana|Maribor|Sofia|Plovdiv|Varna|Auckland|Wellington|Christchurch|Dunedin|Johannesburg|Durban|Pretoria',
].join('|');
export const streetsInRussian =
  'ул\\.|улица|вул\\.|вулиця|пр\\.|просп\\.|проспект|пер\\.|переулок|бул\\.|бульвар|пл\\.|площадь|наб\\.';
/** The last word of streets that begin as Am Alten Markt does. */
export const places =
  'markt|platz|hof|berg|ring|bach|tor|see|wall|graben|park|anger|linden|eichen|wald|feld|garten|ufer|kirche|mühle';
/** Other words of an address that are of no one in particular: Rue de la Paix, P.O. Box. */
export const addressWords = 'rue|chemin|impasse|de|du|des|la|le|les|box|postfach|p|o';

/** Words for things whose number or code can identify a person. */
export const identified =
  'order|customer|account|booking|reservation|invoice|ticket|tracking|reference|case|contract|policy|claim|member|membership|loyalty|serial|passport|licen[cs]e|user|client|parcel|shipment|confirmation|transaction|subscription';
/** Names of the numbers that countries give to persons, as fields and texts have them. */
export const nationalIds =
  'cpf|cnpj|bsn|burgerservicenummer|steuer[ -]?(?:id|identifikationsnummer|nummer)|aadhaa?r|tfn|tax[ -]file|ssn|social[ -]security|pesel|codice[ -]fiscale|personnummer|nif|contribuinte|s[eé]curit[eé][ -]sociale|rodn[eé][ -][cč][ií]slo';
/** Sites on which the first part of a path is somebody's name. */
export const hostsOfPersons =
  '(?:github|gitlab|twitter|x|facebook|instagram|tiktok|linkedin|reddit|medium|pinterest|snapchat|vk|xing|youtube|twitch)\\.com|(?:t|vk)\\.me|bsky\\.app';
/** Parts of a path that are where a name would. */
export const noPerson =
  'me|self|new|login|log-in|signup|sign-up|settings|all|list|search|public|shared|profile|help|about|watch|share|company|groups?|pages?|r|hashtag|explore';

/** Of these is a name made that no one has. */
export const inventedOnsets =
  'Bral Quen Zor Vel Thiv Kest Drin Jorv Wex Ysk Plor Grev Tarv Hesk Vond Orl Glav Skov Pruv Nalv'.split(' ');
export const inventedMiddles = 'a e i o u ai ei ou'.split(' ');
export const inventedEnds = 'na mil rund tor wyk lis dane fen rik sa bel hald mund ko vane stel rin dor pesh qua'.split(
  ' ',
);
