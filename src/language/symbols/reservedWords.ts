import { parseExpression } from '../../engine/core/expression/expression.ts';

const ofTypeScript = new Set(
  (
    'arguments await break case catch class const continue debugger default delete do else enum eval export extends ' +
    'false finally for function if implements import in instanceof interface let new null package private protected ' +
    'public return static super switch this throw true try typeof undefined var void while with yield'
  ).split(' '),
);

const ofPython = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/** Whether a word can name nothing in code. Sources: ECMA-262, 12.7.2, in strict mode; The Python Language Reference, 2.3.1. */
export function isReservedIn(language: 'typescript' | 'python', word: string): boolean {
  return (language === 'python' ? ofPython : ofTypeScript).has(word);
}

/** Whether an expression reads a word as something else than a name. */
export function isReservedInExpressions(word: string): boolean {
  const parsed = parseExpression(word);
  return 'problem' in parsed || parsed.expression.type !== 'name';
}
