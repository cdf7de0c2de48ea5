import { randomStream } from '../src/engine/core/values/random.ts';

/** A sentence, with its words that belong to names of people. */
export type Labelled = { readonly language: string; readonly text: string; readonly names: readonly string[] };

/** The seed of the sentences. */
export const seed = 'masking-1';

type Language = {
  readonly firsts: string;
  readonly lasts: string;
  /** `F` is a first name, `L` a surname. The last two sentences have no name. */
  readonly sentences: string;
};

const languages: Readonly<Record<string, Language>> = {
  en: {
    firsts: 'Harriet Desmond Imogen Clive Rowena Barnaby',
    lasts: 'Fairweather Ollerenshaw Pemberton Tuckwell Ashdown Hargreaves',
    sentences:
      'Hi, I am F L.|Thanks, Ms L!|When does Mr L’s parcel arrive?|Please ask F to call back.|F L here, order is late.|Yesterday F and her brother came.|My order is late today.|Is the Lamp in Brass cheaper?',
  },
  de: {
    firsts: 'Annelie Torsten Wiebke Gernot Mareike Hartmut',
    lasts: 'Küppers Brandstätter Wolff Ziegler Lindemann Achterberg',
    sentences:
      'Hier ist F L.|Danke, Frau L!|Wann kommt das Paket von Herrn L?|Bitte fragen Sie F.|Ich heiße F L.|Gestern war F mit dem Bruder da.|Meine Bestellung kommt zu spät.|Gibt es die Lampe auch in Messing?',
  },
  fr: {
    firsts: 'Maëlys Thibault Solène Gauthier Clotilde Bastien',
    lasts: 'Lefebvre Marchand Delacroix Rousselot Chevallier Fontanelle',
    sentences:
      'Ici F L.|Merci, Mme L !|Quand arrive le colis de M. L ?|Demandez à F, s’il vous plaît.|Je m’appelle F L.|Hier F est venue avec son frère.|Ma commande est en retard.|La lampe existe-t-elle en laiton ?',
  },
  es: {
    firsts: 'Araceli Gonzalo Itziar Leandro Macarena Fermín',
    lasts: 'Zurbano Echeverría Quintanilla Belmonte Arrieta Villaseñor',
    sentences:
      'Soy F L.|¡Gracias, señora L!|¿Cuándo llega el paquete del señor L?|Pregunte a F, por favor.|Me llamo F L.|Ayer F vino con su hermano.|Mi pedido llega tarde.|¿Hay la lámpara en latón?',
  },
  it: {
    firsts: 'Ginevra Ottavio Fiorella Ludovico Serafina Tancredi',
    lasts: 'Bevilacqua Montefalco Guarnieri Sorrentino Pellegrini Castiglione',
    sentences:
      'Buongiorno, sono F L.|Grazie, signora L!|Quando arriva il pacco del signor L?|Chieda a F, per favore.|Mi chiamo F L.|Ieri F è venuta con suo fratello.|Il mio ordine è in ritardo.|La lampada esiste in ottone?',
  },
  nl: {
    firsts: 'Marijke Sjoerd Liesbeth Wouter Femke Diederik',
    lasts: 'Hoogendoorn Vermeulen Dijkstra Brouwer Oosterhuis Schellekens',
    sentences:
      'Ik ben F L.|Bedankt, mevrouw L!|Wanneer komt het pakket van meneer L?|Vraag het aan F, alstublieft.|Mijn naam is F L.|Gisteren kwam F met haar broer.|Mijn bestelling is te laat.|Is de lamp er ook in messing?',
  },
  pt: {
    firsts: 'Benedita Otávio Lurdes Joaquim Iolanda Baltazar',
    lasts: 'Figueiredo Vasconcelos Albuquerque Saraiva Monteiro Quadros',
    sentences:
      'Sou o F L.|Obrigado, senhora L!|Quando chega a encomenda do senhor L?|Pergunte a F, por favor.|Chamo-me F L.|Ontem F veio com o irmão.|O meu pedido está atrasado.|A lâmpada existe em latão?',
  },
  pl: {
    firsts: 'Grażyna Zbigniew Halina Przemysław Bożena Mirosław',
    lasts: 'Wójcik Szymczak Grabowicz Pawlak Zawisza Mazurek',
    sentences:
      'Jestem F L.|Dziękuję, pani L!|Kiedy przyjdzie paczka pana L?|Proszę zapytać F.|Nazywam się F L.|Wczoraj F przyszła z bratem.|Moje zamówienie się spóźnia.|Czy lampa jest też w mosiądzu?',
  },
  sv: {
    firsts: 'Gunilla Torbjörn Annika Folke Ragnhild Sixten',
    lasts: 'Lindqvist Bergström Hallgren Sjöholm Nyberg Ekdahl',
    sentences:
      'Jag är F L.|Tack, fru L!|När kommer paketet till herr L?|Fråga F, tack.|Jag heter F L.|I går kom F med sin bror.|Min beställning är sen.|Finns lampan i mässing?',
  },
  cs: {
    firsts: 'Zdeňka Bohumil Květa Vlastimil Radka Ctibor',
    lasts: 'Havlíček Procházka Dvořáček Kratochvíl Zelenka Říha',
    sentences:
      'Já jsem F L.|Děkuji, paní L!|Kdy přijde balík pana L?|Zeptejte se, prosím, F.|Jmenuji se F L.|Včera přišla F s bratrem.|Moje objednávka má zpoždění.|Je lampa i v mosazi?',
  },
};

/** Forms that are the same in every language: tables, markup, capitals, and a name letter by letter. */
const forms: readonly string[] = [
  'id,name,email\n17,F L,-',
  '| name | email |\n| --- | --- |\n| F L | - |',
  '<customer><name>F L</name></customer>',
  'F L'.toUpperCase(),
  '{"customer_name":"F L"}',
];

/** Returns the labelled sentences: each template four times per language, with names drawn by the seed, so that some repeat. */
export function labelledSentences(): readonly Labelled[] {
  return Object.entries(languages).flatMap(([language, { firsts, lasts, sentences }]) =>
    [...sentences.split('|'), ...forms].flatMap((template, at) =>
      Array.from({ length: 4 }, (_, copy): Labelled => {
        const random = randomStream('masking-sentences', seed, language, at, copy);
        const drawn = { F: random.pick(firsts.split(' ')), L: random.pick(lasts.split(' ')) };
        const names: string[] = [];
        const isCapitals = template === 'F L';
        const text = template.replace(/\b[FL]\b/g, (letter) => {
          const name = drawn[letter as 'F' | 'L'];
          names.push(isCapitals ? name.toUpperCase() : name);
          return names.at(-1) ?? '';
        });
        return { language, text, names };
      }),
    ),
  );
}
