import { expect, test } from 'vitest';
import { desk, deskTools, load } from './domainFolder.ts';

const domain = (says: string) =>
  load(
    {
      ...desk,
      'rules.yaml': `- { rule: look-up, check: never, says: ${says} }\n`,
      'phrases.yaml': 'hours: [open all day, "open until ..."]\nsoon: [in a moment]\n',
    },
    deskTools,
  );

test.each([
  ['phrases.hours', ['open all day', 'open until ...']],
  ['[phrases.soon, at once, phrases.hours]', ['in a moment', 'at once', 'open all day', 'open until ...']],
  ['phrases hours', 'phrases hours'],
])('says: %s', (says, expected) => {
  const { domain: loaded, diagnostics } = domain(says);
  expect(diagnostics.filter(({ code }) => code.startsWith('rule/'))).toEqual([]);
  expect(loaded.rules).toEqual([expect.objectContaining({ says: expected })]);
});

test.each([
  ['phrases.hour', 1, 40, 'Did you mean "hours"?'],
  ['[at once, phrases.constructor]', 1, 50, 'Its lists are hours, soon.'],
])('a list that does not exist: %s', (says, line, column, hint) => {
  const [found, ...others] = domain(says).diagnostics.filter(({ code }) => code === 'rule/unknown-phrases');
  expect(others).toEqual([]);
  expect([found?.line, found?.column, found?.severity, found?.hint]).toEqual([line, column, 'error', hint]);
});

test('the wordings of a confirmation', () => {
  const { domain: loaded, diagnostics } = load(
    {
      ...desk,
      'rules.yaml':
        '- { rule: look-up, check: confirmed, asks: phrases.asks, yes: [phrases.yes, gerne], no: phrases.none }\n',
      'phrases.yaml': 'asks: [soll ich]\nyes: [ja, jawohl]\n',
    },
    deskTools,
  );
  expect(loaded.rules).toEqual([expect.objectContaining({ asks: ['soll ich'], yes: ['ja', 'jawohl', 'gerne'] })]);
  expect(diagnostics.filter(({ code }) => code === 'rule/unknown-phrases')).toMatchObject([
    { message: 'phrases.yaml has no list none.' },
  ]);
});
