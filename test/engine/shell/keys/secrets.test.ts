import { assert, constantFrom, property, record, string, tuple } from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { askForData } from '../../../../src/authoring/drafts/askedModel.ts';
import { keptSecret, redactedPart, redactedValue, without } from '../../../../src/engine/shell/keys/secrets.ts';
import { ServerOutput } from '../../../../src/engine/shell/mcp/serverOutput.ts';
import { quote } from '../../../../src/engine/shell/models/chatAnswer.ts';
import { WorkerReader } from '../../../../src/engine/shell/workers/workerChannel.ts';
import { completion, endpoint } from '../../../support/endpoint.ts';

const text = string({ unit: 'grapheme', maxLength: 30 });

test('a secret is removed from what is recorded, in every encoding', () => {
  const secret = string({ unit: 'grapheme', minLength: 8, maxLength: 30 }).filter(
    (value) => value.length >= 8 && !'["", key]'.includes(value),
  );
  const form = constantFrom(
    (value: string) => value,
    (value: string) => JSON.stringify(value),
    (value: string) => encodeURIComponent(value.toWellFormed()),
    (value: string) => Buffer.from(value).toString('base64'),
  );
  assert(
    property(secret, form, tuple(text, text), (value, told, [before, after]) => {
      const said = `${before}${told(keptSecret('key', value))}${after}`;
      const kept = JSON.stringify(redactedValue({ said, list: [said], [said]: 1 }));
      expect(kept).toContain('[key]');
      expect(kept).not.toContain(JSON.stringify(value).slice(1, -1));
    }),
  );
});

const long = `sk-proj-${'AbC/dEf+GhI=jKl'.repeat(9)}`;
const odd = `p&ss"w0rd<long>va'lue/(x) y`;
const bytesOf = (text: string, form = (pair: string) => pair) =>
  [...Buffer.from(text)].map((byte) => form(byte.toString(16).padStart(2, '0')));
const unitsOf = (text: string, form: (code: number) => string) =>
  [...text].map((letter) => form(letter.charCodeAt(0))).join('');
const escapedUnit = (letter: string) => `\\u00${letter.charCodeAt(0).toString(16)}`;
const htmlOf = (value: string) =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const base64 = (text: string) => Buffer.from(text).toString('base64');

test.each<[form: string, (value: string) => string]>([
  ['in lines', (value) => value.replace(/.{10}/g, '$&\n')],
  ['Base64 in lines', (value) => base64(value).replace(/.{76}/g, '$&\n')],
  ['Base64 of a URL', (value) => base64(`/v1?key=${encodeURIComponent(value)}`)],
  ['Base64 in lines, inside of a text', (value) => base64(`a log: ${value}!`).replace(/.{20}/g, '$&\r\n ')],
  ['a URL that keeps slashes', (value) => encodeURIComponent(value).replaceAll('%2F', '/')],
  ['a URL in lower case', (value) => encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase())],
  ['a form', (value) => new URLSearchParams([['', value]]).toString().slice(1).replaceAll('*', '%2A')],
  ['HTML', (value) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')],
  [
    'HTML with quotation marks',
    (value) =>
      value
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&#39;'),
  ],
  ['JSON of Go', (value) => JSON.stringify(value).replace(/[&<>]/g, (letter) => escapedUnit(letter))],
  [
    'JSON of .NET',
    (value) =>
      JSON.stringify(value).replace(/[&<>'+]/g, (letter) => escapedUnit(letter).toUpperCase().replace('U', 'u')),
  ],
  [
    'JSON of Go in JSON',
    (value) => JSON.stringify(JSON.stringify(value).replace(/[&<>]/g, (letter) => escapedUnit(letter))),
  ],
  ['HTML of PHP', (value) => htmlOf(value).replaceAll("'", '&#039;')],
  [
    'HTML with other references',
    (value) => htmlOf(value).replaceAll("'", '&#x27;').replaceAll('+', '&#43;').replaceAll('=', '&#61;'),
  ],
  ['HTML of HTML', (value) => htmlOf(htmlOf(value).replaceAll("'", '&#039;'))],
  ['JSON of Go of HTML', (value) => JSON.stringify(htmlOf(value)).replaceAll('&', '\\u0026')],
  ['quoted-printable', (value) => value.replace(/[=]/g, '=3D')],
  ['quoted-printable in lines', (value) => value.replace(/[=]/g, '=3D').replace(/.{20}(?![0-9A-F]{0,1}D)/g, '$&=\r\n')],
  ['a URL of a URL', (value) => encodeURIComponent(encodeURIComponent(value))],
  [
    'a mixture',
    (value) =>
      [...value]
        .map(
          (letter, at) => [letter, `&#${letter.charCodeAt(0)};`, escapedUnit(letter), `%${bytesOf(letter)[0]}`][at % 4],
        )
        .join(''),
  ],
  ['JSON of PHP', (value) => JSON.stringify(value).replaceAll('/', '\\/')],
  ['JSON in JSON in JSON', (value) => JSON.stringify(JSON.stringify(JSON.stringify({ value })))],
  ['\\x codes', (value) => Buffer.from(value).toString('hex').replace(/../g, '\\x$&')],
  [
    'hexadecimal digits with colons',
    (value) =>
      Buffer.from(value)
        .toString('hex')
        .replace(/..(?=.)/g, '$&:'),
  ],
  ['hexadecimal digits with spaces', (value) => bytesOf(value).join(' ')],
  ['a URL in which every byte is encoded', (value) => bytesOf(value, (pair) => `%${pair.toUpperCase()}`).join('')],
  ['JSON in which every unit is escaped', (value) => unitsOf(value, (code) => `\\u00${code.toString(16)}`)],
  ['JSON of it in JSON', (value) => unitsOf(value, (code) => `\\\\u00${code.toString(16).toUpperCase()}`)],
  ['HTML in which every letter is a reference', (value) => unitsOf(value, (code) => `&#${code};`)],
  ['HTML with hexadecimal references', (value) => unitsOf(value, (code) => `&#x${code.toString(16)};`)],
  ['Base64 of UTF-16', (value) => Buffer.from(value, 'utf16le').toString('base64')],
  ['Base64 of Base64', (value) => base64(base64(value))],
])('a secret is redacted in this form: %s', (_form, encode) => {
  for (const value of [long, odd]) {
    keptSecret('form', value);
    const text = encode(value);
    expect(redactedValue([`before ${text}`])[0]?.replace(/[^a-z[\]]/gi, '')).toMatch(/^before.{0,16}\[form].{0,8}$/);
  }
});

test.each([
  ['a colour', '\u001b[31m'],
  ['a reset', '\u001b[0m'],
  ['a title', '\u001b]0;x\u0007'],
  ['a mark of direction', '\u200e'],
  ['a mark in a colour', '\u001b\u200e[31m'],
  ['a space without width', '\u200b'],
  ['a soft hyphen', '\u00ad'],
  ['a bell', '\u0007'],
  ['a carriage return', '\r'],
  ['a delete character', '\u007f'],
  ['a control character of 8 bits', '\u009b1m'],
])('no key is left that a terminal joins: split by %s', (_what, mark) => {
  const key = keptSecret('KEY', 'tok-4f9aKz81QmRt7Wxy');
  const value = { said: `before ${key.slice(0, 8)}${mark}${key.slice(8)} after`, other: `a${mark}b` };
  const kept = redactedValue(value);
  expect(kept).toEqual({ said: 'before [KEY] after', other: value.other });
  expect(without([[key, 'KEY']])(value.said)).toBe('before [KEY] after');
  expect(redactedValue({ other: value.other })).toEqual({ other: value.other });
});

test('a key of digits is redacted where it is a number', () => {
  keptSecret('PIN', '9182736450');
  expect(redactedValue({ default: 9182736450, list: [-9182736450, 91827364501] })).toEqual({
    default: '[PIN]',
    list: ['[PIN]', 91827364501],
  });
});

test.each([
  ['zeros before them', '00918273645', true],
  ['more digits than a number keeps', '91827364509182736450', true],
  ['so many digits that the number has an exponent', '9182736450918273645012', true],
  ['a zero at the end', '00918273.6450', true],
  ['fewer than eight after the zeros', '0000009182', false],
])('a key of digits with %s is redacted where it is a number', (_what, key, isRedacted) => {
  keptSecret('PIN', key);
  const recorded = [Number(key), -Number(key), `at ${Number(key)}`];
  expect(redactedValue(recorded)).toEqual(isRedacted ? ['[PIN]', '[PIN]', 'at [PIN]'] : recorded);
});

test('a key that is cut off, or comes in parts, is not in the last output of a server', () => {
  const output = new ServerOutput();
  const key = keptSecret('KEY', `key-${'0123456789abcdef'.repeat(30)}`);
  for (const part of [key.slice(0, 450), key.slice(450), '.', 'x'.repeat(100), key, 'y'.repeat(350)])
    output.onStderr(part);
  expect(output.describe('It ended')).toMatch(/^It ended\. Its last output: [^0-9]*\[KEY]y+$/);
});

test('a key that is cut off is not in the quote of a provider', () => {
  const key = keptSecret('KEY', 'key-0123456789abcdef');
  expect(quote(`${'x'.repeat(290)}${key}`)).toBe(`${'x'.repeat(290)}[KEY]`);
});

test.each([-40, -20, 20, 40])('no part of a key is left where a text is cut at %i', (at) => {
  const key = keptSecret('KEY', 'key-0123456789abcdef');
  for (let before = 0; before < 60; before += 1) {
    const text = `${'x'.repeat(before)}${key}${'y'.repeat(60 - before)}`;
    expect(at < 0 ? redactedPart(text, at) : redactedPart(text, 0, at)).not.toMatch(/[0-9a-f]/);
  }
});

test('a key that is cut off is not in the error about a line that no worker writes', () => {
  const key = keptSecret('KEY', 'key-0123456789abcdef');
  const reader = new WorkerReader(() => undefined);
  expect(() => reader.read(`${'x'.repeat(190)}${key}\n`)).toThrow(/x\[KEY\]$/);
});

test('a key that is cut off is not in the correction that a drafting model gets', async () => {
  const key = keptSecret('KEY', 'key-0123456789abcdef');
  const told: string[] = [];
  const url = await endpoint((_request, body) => {
    told.push(body);
    return completion({ content: `${'x'.repeat(110)}${key}` });
  });
  const seat = { type: 'openai', model: 'm', baseUrl: url, keyName: null } as const;
  const { signal } = new AbortController();
  const asked = askForData({ seat, key: '', signal }, 'Draft.', 'Now.', z.object({}), async () => null);
  await expect(asked).rejects.toThrow(/x\[KEY\]/);
  expect(told.join()).not.toContain('key-0');
});

test('a value without a secret is returned unchanged', () => {
  keptSecret('key', 'sk-4711-never-told');
  assert(
    property(record({ said: string({ unit: constantFrom(...'sk-4711') }) }), (value) => {
      expect(redactedValue(value)).toBe(value);
    }),
  );
});

test('a key that is used again is remembered, however many others were lent in between', () => {
  keptSecret('kept', 'sk-a-key-of-a-person');
  for (let lent = 0; lent < 2000; lent += 1) {
    keptSecret('lent', `lent-to-a-rollout-${lent}`);
    keptSecret('kept', 'sk-a-key-of-a-person');
  }
  expect(redactedValue('it is sk-a-key-of-a-person')).toBe('it is [kept]');
  expect(redactedValue('lent-to-a-rollout-1999, lent-to-a-rollout-0')).toBe('[lent], lent-to-a-rollout-0');
});

test('a text of backslashes takes little longer than a text of letters', () => {
  keptSecret('KEY', 'supersecretvalue123');
  const took = (part: string) => {
    const text = part.repeat(50_000);
    const times = [1, 2, 3, 4].map(() => {
      const from = performance.now();
      redactedValue(text);
      return performance.now() - from;
    });
    return Math.min(...times);
  };
  expect(took(`${'\\'.repeat(15)}q`)).toBeLessThan(8 * took('abcdefghijklmnop'));
});

test('a key whose letters have up to 16 backslashes is not written', () => {
  keptSecret('KEY', 'supersecretvalue123');
  for (const count of [1, 2, 3, 7, 8, 15, 16]) {
    const escaped = [...'supersecretvalue123'].map((letter) => {
      const code = letter.charCodeAt(0).toString(16);
      return `${'\\'.repeat(count)}${count % 2 ? `u00${code}` : `x${code}`}`;
    });
    expect(redactedValue(`it is ${escaped.join('')}.`), `${count}`).toBe('it is [KEY].');
  }
});

test('a long text of escapes takes about as long as its length', () => {
  keptSecret('KEY', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab+/=');
  const took = (size: number) => {
    const from = performance.now();
    for (const part of ['\\', '&amp;', '%25', 'a', '=3D', '\\u0061'])
      redactedValue([part.repeat(size), `${part.repeat(size)}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab&#43;/=`]);
    return performance.now() - from;
  };
  took(100);
  expect(took(10_000)).toBeLessThan(60 * took(1000) + 500);
});
