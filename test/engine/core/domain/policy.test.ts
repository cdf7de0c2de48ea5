import { describe, expect, it } from 'vitest';
import { blocksQuoting, parsePolicy } from '../../../../src/engine/core/domain/policy.ts';

describe('rules of a policy', () => {
  const cases: readonly [string, string, readonly (readonly [string, string, number, number])[], string][] = [
    ['a list item', '- Do it. {#do-it}\n', [['do-it', 'Do it.', 1, 1]], '- Do it.\n'],
    [
      'a heading',
      '# Desk\n\n## Refunds {#refunds}\n\nWords.\n',
      [['refunds', 'Refunds', 3, 3]],
      '# Desk\n\n## Refunds\n\nWords.\n',
    ],
    ['a numbered item', '1. One. {#one}\n2. Two.\n', [['one', 'One.', 1, 1]], '1. One.\n2. Two.\n'],
    [
      'an item over two lines',
      '- A long\n  sentence. {#long}\n',
      [['long', 'A long sentence.', 1, 2]],
      '- A long\n  sentence.\n',
    ],
    [
      'a mark on a separate line',
      '- A long sentence.\n  {#long}\n- B.\n',
      [['long', 'A long sentence.', 1, 2]],
      '- A long sentence.\n- B.\n',
    ],
    ['a mark in front', '- {#first} Do it.\n', [['first', 'Do it.', 1, 1]], '- Do it.\n'],
    ['a mark in the middle', '- Do {#mid} it.\n', [['mid', 'Do it.', 1, 1]], '- Do it.\n'],
    [
      'nested items',
      '- Outer. {#outer}\n  - Inner. {#inner}\n',
      [
        ['outer', 'Outer.', 1, 1],
        ['inner', 'Inner.', 2, 2],
      ],
      '- Outer.\n  - Inner.\n',
    ],
    ['emphasis and code', '- Do **not** call `x`. {#x}\n', [['x', 'Do not call x.', 1, 1]], '- Do **not** call `x`.\n'],
    ['two paragraphs', '- One.\n\n  Two. {#both}\n', [['both', 'One. Two.', 1, 3]], '- One.\n\n  Two.\n'],
    ['a mark in code is text', '- Write `{#id}`.\n', [], '- Write `{#id}`.\n'],
    ['a block of code is text', '```\n- a {#a}\n```\n', [], '```\n- a {#a}\n```\n'],
    ['no marks', '# Desk\n\n- Do it.\n', [], '# Desk\n\n- Do it.\n'],
    ['nothing', '', [], ''],
  ];
  it.each(cases)('%s', (_, source, rules, text) => {
    const parsed = parsePolicy(source);
    expect(parsed.policy.rules.map(({ id, text, line, endLine }) => [id, text, line, endLine])).toEqual(rules);
    expect(parsed.policy.text).toBe(text);
    expect(parsed.problems).toEqual([]);
  });

  it('knows the places of the marks', () => {
    const { marks } = parsePolicy('# Desk\n\n- Do it. {#do-it}\n');
    expect(marks).toEqual([{ id: 'do-it', line: 3, column: 10, endLine: 3, endColumn: 18 }]);
  });

  it('has a hash of what the agent reads', () => {
    expect(parsePolicy('- Do it. {#a}\n').policy.hash).toBe(parsePolicy('- Do it. {#b}\n').policy.hash);
    expect(parsePolicy('- Do it. {#a}\n').policy.hash).not.toBe(parsePolicy('- Do so. {#a}\n').policy.hash);
  });
});

describe('marks that are wrong', () => {
  const cases: readonly [string, string, string, number, number][] = [
    ['an id with a space', '- Do it. {#do it}\n', 'policy/bad-mark', 1, 10],
    ['an empty id', '- Do it. {#}\n', 'policy/bad-mark', 1, 10],
    ['an open mark', '- Do it. {#do-it\n- Again. {#a}\n', 'policy/unclosed-mark', 1, 10],
    ['an open mark before another', '- Do it. {#do-it {#a}\n', 'policy/unclosed-mark', 1, 10],
    ['a paragraph', 'Do it. {#do-it}\n', 'policy/misplaced-mark', 1, 8],
    ['a second id', '- Do it. {#a} {#b}\n', 'policy/second-mark', 1, 15],
    ['an id twice', '- Do it. {#a}\n- Again. {#a}\n', 'policy/duplicate-rule', 2, 10],
  ];
  it.each(cases)('%s', (_, source, code, line, column) => {
    expect(parsePolicy(source).problems.map((problem) => [problem.code, problem.line, problem.column])).toEqual([
      [code, line, column],
    ]);
  });
});

describe('quotes', () => {
  const { blocks } = parsePolicy(
    '# Desk\n\nBe kind to all.\n\n- Be **kind** to\n  all people.\n- Never refund twice.\n',
  );
  const cases: readonly [string, string, readonly number[]][] = [
    ['case and emphasis', 'be *kind* to all', [5, 3]],
    ['white space', 'never   refund\ntwice', [7]],
    ['a cut-off quote', 'Never refund...', [7]],
    ['nothing', '  ', []],
    ['what is not there', 'always refund', []],
  ];
  it.each(cases)('%s', (_, quote, lines) => {
    expect(blocksQuoting(blocks, quote).map(({ line }) => line)).toEqual(lines);
  });
});
