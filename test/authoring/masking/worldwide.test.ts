import { expect, test } from 'vitest';
import { maskerOf } from '../../../src/authoring/masking/masker.ts';

function masked(text: string): string {
  return maskerOf({ seed: 'test' })
    .conversation([{ value: text }])
    .text(text);
}

/** Messages, and the words of each that must not remain in the masked text. */
const planted: readonly (readonly [kind: string, text: string, gone: string])[] = [
  ['name', 'Hi, my name is Nguyễn Thị Minh Khai.', 'Nguyễn Thị Minh Khai'],
  ['name', 'This is Oluwaseun Adébáyò calling about my order', 'Oluwaseun Adébáyò'],
  ['name', "I'm Siobhán O'Dwyer and I want to return it", "Siobhán O'Dwyer"],
  ['name', 'I am Abdul-Rahman ibn Yusuf al-Khwarizmi.', 'Abdul Rahman Yusuf Khwarizmi'],
  ['name', 'Me llamo María José Fernández de la Vega', 'María José Fernández Vega'],
  ['name', 'Benim adım Çağla Yıldırım', 'Çağla Yıldırım'],
  ['name', 'Με λένε Ελένη Παπαδοπούλου', 'Ελένη Παπαδοπούλου'],
  ['name', 'Мене звати Олександра Шевченко', 'Олександра Шевченко'],
  ['name', 'שמי אביגיל רוזנברג', 'אביגיל רוזנברג'],
  ['name', 'اسمي فاطمة الزهراء', 'فاطمة الزهراء'],
  ['name', 'मेरा नाम प्रियंका चतुर्वेदी है', 'प्रियंका चतुर्वेदी'],
  ['name', 'Tên tôi là Trần Quốc Bảo', 'Trần Quốc Bảo'],
  ['name', 'A nevem Szűcs Hajnalka', 'Szűcs Hajnalka'],
  ['name', 'Nama saya Budi Santoso', 'Budi Santoso'],
  ['name', 'Buongiorno, sono Ginevra Bevilacqua.', 'Ginevra Bevilacqua'],
  ['name', 'Goedemorgen, ik ben Sjoerd van Dijk', 'Sjoerd Dijk'],
  ['name', 'Sou o Joaquim Vasconcelos.', 'Joaquim Vasconcelos'],
  ['name', 'Dzień dobry, jestem Zbigniew Wójcik.', 'Zbigniew Wójcik'],
  ['name', 'Hej, jag är Torbjörn Lindqvist', 'Torbjörn Lindqvist'],
  ['name', 'Hier ist Annelie Küppers.', 'Annelie Küppers'],
  ['name', 'Name: DE SOUZA, Thiago', 'SOUZA Thiago'],
  ['name', 'family name: Ørsted, given name: Hans Christian', 'Ørsted Hans Christian'],
  ['name', 'reservation made by Haruto Yamashita', 'Haruto Yamashita'],
  ['name', 'It is under Zbigniew Kowalczyk.', 'Zbigniew Kowalczyk'],
  ['name', 'Best regards,\nMarta Kowalczyk from Support', 'Marta Kowalczyk'],
  ['name', 'Best regards,\nJoost van Dijk, Support Team', 'Joost Dijk'],
  ['name', 'Kind regards, Pavel Sokolov, Acme GmbH.', 'Pavel Sokolov'],
  ['secret', 'my api key is sk-proj-abc123DEF456ghi789', 'abc123DEF456ghi789'],
  ['secret', 'the password: hunter2secret', 'hunter2secret'],
  ['secret', 'My password is Tr0ub4dor&3, does it help?', 'Tr0ub4dor&3'],
  ['secret', 'token: ghp_16C7e42F292c6912E7710c838347Ae178B4a', '16C7e42F292c6912E7710c838347Ae178B4a'],
  ['secret', 'it says AKIAIOSFODNN7EXAMPLE there', 'IOSFODNN7EXAMPLE'],
  ['secret', 'Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4', 'SflKxwRJSMeKKF2QT4'],
  ['secret', 'PIN code: 4711', '4711'],
  ['email', 'You can write to jane at example dot com', 'jane'],
  ['email', 'jane dot roe at mail dot posteo dot co dot uk', 'jane roe posteo'],
  ['email', 'jane(dot)roe(at)posteo(dot)de', 'jane roe posteo'],
  ['email', 'max punto mustermann arroba correo punto es', 'mustermann correo'],
  ['email', 'maría.lópez@correo.es', 'maría lópez correo'],
  ['email', 'jane.roe@posteo.dekjell@wolke.example', 'jane roe posteo kjell wolke'],
  ['phone', '+971 50 123 4567', '123 4567'],
  ['phone', '06 12 34 56 78', '12 34 56'],
  ['phone', '+7 (495) 123-45-67', '123-45-67'],
  ['phone', '+55 11 91234-5678', '91234 5678'],
  ['phone', 'call me at 555-0199 after six', '555-0199'],
  ['phone', '0151-23456789', '23456789'],
  ['address', '10 Rue de la Paix, 75002 Paris', 'Paix 75002 Paris'],
  ['address', '12 bis, avenue des Champs-Élysées', 'Champs Élysées'],
  ['address', 'ul. Marszałkowska 10/12 m. 5, 00-590 Warszawa', 'Marszałkowska 00-590'],
  ['address', 'Rua das Flores 123, 1200-195 Lisboa', 'Flores 1200-195'],
  ['address', 'Drottninggatan 71, 111 36 Stockholm', 'Drottning 111 36'],
  ['address', 'Kongens gate 6, 0153 Oslo', 'Kongens 0153'],
  ['address', 'Mannerheimintie 12 B 34, 00100 Helsinki', 'Mannerheim 00100'],
  ['address', 'Atatürk Caddesi No: 15, 34000 Istanbul', 'Atatürk 34000'],
  ['address', 'Rákóczi út 12, 1072 Budapest', 'Rákóczi 1072'],
  ['address', 'Václavské náměstí 28, 110 00 Praha', 'Václavské 110 00'],
  ['address', 'ул. Ленина, д. 15, кв. 3, Москва', 'Ленина 15'],
  ['address', '15 Brigade Road, Bengaluru 560025', 'Brigade 560025'],
  ['address', '77 Bloor St, Toronto ON M5S 1M2', 'Bloor M5S'],
  ['address', '9 George Street, Sydney NSW 2000', 'George 2000'],
  ['address', 'Mariahilfer Straße 10/2/14, 1060 Wien', 'Mariahilfer 1060 Wien'],
  ['address', 'Bahnhofstrasse 21, 8001 Zürich', 'Bahnhofstrasse 8001 Zürich'],
  ['address', "Rue de l'Étuve 5, 1000 Bruxelles", 'Étuve 1000 Bruxelles'],
  ['address', 'Place de la Monnaie 6, 1000 Bruxelles', 'Monnaie 1000 Bruxelles'],
  ['postcode', 'It goes to 1010 Wien.', '1010'],
  ['postcode', 'Grote Markt 1, 2000 Antwerpen', '2000'],
  ['postcode', 'Postfach 12, 3001 Bern', '3001'],
  ['postcode', 'Queen Street 12\n1010 Auckland', '1010'],
  ['postcode', 'A-3512 Mautern, CH-7500 St. Moritz, L-9940 Asselborn', '3512 7500 9940'],
  ['postcode', 'ich wohne in 2351 Neudorf', '2351'],
  ['postcode', 'Mi código postal es 28013 y espero', '28013'],
  ['postcode', 'mój kod pocztowy to 30-059', '30-059'],
  ['postcode', 'Il mio CAP è 20153', '20153'],
  ['postcode', 'mon code postal est 75002', '75002'],
  ['postcode', 'moje PSČ je 128 43', '128 43'],
  ['postcode', 'mitt postnummer är 146 37', '146 37'],
  ['postcode', 'Meine Postleitzahl ist 10119', '10119'],
  ['iban', 'my iban is de89370400440532013000', '370400440532013000'],
  ['iban', 'CH93-0076-2011-6238-5295-7', '0076 2011'],
  ['card', '4111-1111-1111-1111', '1111'],
  ['card', '3782 822463 10005', '822463'],
  ['card', 'XXXX-XXXX-XXXX-4242, the Visa that ends with 4242', '4242'],
  ['id', 'My passport number is 533380006', '533380006'],
  ['id', 'national insurance number QQ 12 34 56 C', '12 34 56'],
  ['id', 'SSN 078-05-1120', '078-05-1120'],
  ['id', 'CPF 123.456.789-09', '123.456.789'],
  ['id', 'PESEL 44051401359', '44051401359'],
  ['id', '110105194912310003, 255081416802538', '110105194912310003 255081416802538'],
  ['id', '850503-1234567 and 811218-9876', '1234567 9876'],
  ['id', 'codice fiscale RSSMRA85T10A562S', 'RSSMRA85T10A562S'],
  ['id', 'personnummer 811218-9876', '811218-9876'],
  ['birth date', 'my birthday is the 3rd of March 1984', '1984'],
  ['birth date', 'birth date 3-Mar-1984', '3-Mar-1984'],
  ['birth date', 'DOB 03/03/84', '03/03/84'],
  ['birth date', 'Date of birth - August 9, 1988.', '1988'],
  ['birth date', 'Date of birth - 5 May 1977', '5 1977'],
  ['birth date', 'DOB – 03/03/84 and birthday = 4 June 1990, Geburtsdatum — 5.6.1971', '03/03/84 1990 5.6.1971'],
  ['birth date', 'Date of birth (dd/mm/yyyy): 09/08/1988', '09/08/1988'],
  ['birth date', 'Mi cumpleaños es el 21 de marzo de 1990', 'marzo 1990'],
  ['birth date', 'Födelsedatum 25.03.1952', '25.03.1952'],
  ['birth date', 'ur. 15.03.1982', '15.03.1982'],
  ['birth date', 'nar. 14.03.1978', '14.03.1978'],
  ['id', 'NIF 544 476 493, rodné číslo 815314/4837', '544 476 493 815314 4837'],
  ['secret', 'password - hunter2, PIN – 4821, PIN number -> 3917', 'hunter2 4821 3917'],
  ['secret', 'with the PIN of 4821 or the pin 3917', '4821 3917'],
  ['postcode', 'ZIP – 90210, postcode = 56385', '90210 56385'],
  ['card', 'cvv - 837', '837'],
  ['id', 'account number - 8812, customer no. – K-4471, Kundennummer — 5512', '8812 4471 5512'],
  ['id', 'sort code - 20-00-00, licence plate – M-XY 1234', '20-00 1234'],
  ['user name', 'username - jroe_77, skype = kjell.o', 'jroe kjell'],
  ['ip', '::ffff:203.0.113.9 and 2001:0db8:85a3:0000:0000:8a2e:0370:7334', '203.0.113.9 85a3'],
  ['ip', 'MAC 00:1A:2B:3C:4D:5E or b8-27-eb-12-34-56', '1A:2B b8-27'],
  ['user name', 'https://www.linkedin.com/in/jane-roe-4b12/', 'jane roe'],
  ['user name', 'https://shop.test/api/customers/hjonas/orders?login=jroe', 'hjonas jroe'],
  ['user name', 'ftp://kjell:secret@host.test', 'kjell secret'],
  ['user name', 'C:\\Users\\frieda\\a.txt', 'frieda'],
  ['user name', 'my username is jroe_77', 'jroe_77'],
];

test.each(planted)('%s is masked: %s', (_, text, gone) => {
  const made = masked(text).toLowerCase();
  expect(
    gone
      .toLowerCase()
      .split(' ')
      .filter((word) => made.includes(word)),
  ).toEqual([]);
});

test.each([
  'I paid 129.90 EUR for it, and $1,299.00 for the other.',
  'Ordered on 3 March 2026, delivered on 05.03.2026 14:00, not at 10:30:00.',
  'Between 9:00 and 17:30, 10 to 14 working days.',
  'The Sony WH-1000XM5 headphones and the iPhone 15 Pro Max with 256 GB',
  'Fibre 500 with 2 routers, 24 x 30 cm, aspect ratio 16:9:4',
  'On March 5, 2026 Delta confirmed it; look at this point in time.',
  'I paid 1200 EUR or 1000 Euro for 1500 Screws and 3000 Points, 1,250 Vienna mugs and 1.000 Linz mugs.',
  'In 2024 Wien was full, so we went by Flight 1234 Vienna in March 2026 Oslo time.',
  'model 12, 2024 Edition, aisle 12, 1000 Screws, and Order 12, 4500 Points',
  'An order of 1200 screws - 2026 was good - and a PIN of 4 digits; my password - please reset it; a token of 5000 EUR',
  'Place Order 12, Route 66, the 5000 Series, Fibre 1000 Plus',
  'My username is wrong, and my last name is spelled wrong.',
  'It was booked by mistake, and the order was placed by phone under protest.',
  'See https://shop.example/products/desk-lamp and https://github.com/settings',
])('text that is not personal is kept: %s', (text) => {
  expect(masked(text)).toBe(text);
});

test.each([
  ['nif', '248 372 615'],
  ['rodné_číslo', '815314/4837'],
  ['numéro_sécurité_sociale', '281037511648311'],
  ['kod_pocztowy', '00-950'],
  ['sort_code', '48-37-26'],
  ['cellulare', '348 4837261'],
  ['kontonummer', '4837261504'],
])('a field %s is personal', (field, value) => {
  expect(masked(JSON.stringify({ [field]: value }))).not.toContain(value);
});

test.each([
  ['aa:bb:cc:dd:ee:ff', /^02(?::[0-9a-f]{2}){5}$/],
  ['AA-BB-CC-DD-EE-01', /^02(?:-[0-9A-F]{2}){5}$/],
  ['00:11:22:33:44:55', /^02(?::[0-9a-f]{2}){5}$/],
])('the stand-in of a MAC address is one that no maker gives: %s', (address, shape) => {
  const made = masked(`It is ${address} here`).split(' ')[2] ?? '';
  expect(made).toMatch(shape);
  expect(made.slice(3)).not.toBe(address.slice(3));
  expect(masked(made)).not.toBe(address);
});

test('an order that is in the domain is kept, another is not', () => {
  const kept = (text: string) => [...text.matchAll(/W1003/g)].map(({ index }) => ({ start: index, end: index + 5 }));
  const text = 'order number W1003, and order number W7788';
  const made = maskerOf({ seed: 'test', kept })
    .conversation([{ value: text }])
    .text(text);
  expect(made).toMatch(/^order number W1003, and order number (?!W7788)[A-Z]\d{4}$/);
});

test('a word that only joins the words of a name stays where it is a word', () => {
  const text = 'Me llamo Ximena de la Vega. Quiero la lámpara de la tienda.';
  expect(masked(text)).toMatch(/ de la \S+\. Quiero la lámpara de la tienda\.$/);
});
