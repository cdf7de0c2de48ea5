/**
 * Returns the value of an arithmetic expression with numbers, + - * /, signs and parentheses.
 * It has its own parser, because an agent's text must never reach `eval`.
 * @throws Error with a message for the agent if the text is not such an expression
 */
export function evaluate(expression: string): number {
  const tokens = expression.match(/\d+(?:\.\d+)?|\S/g) ?? [];
  let at = 0;

  const sum = (): number => {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '-') value += tokens[at++] === '+' ? product() : -product();
    return value;
  };

  const product = (): number => {
    let value = factor();
    while (tokens[at] === '*' || tokens[at] === '/') {
      if (tokens[at++] === '*') value *= factor();
      else value /= nonZero(factor());
    }
    return value;
  };

  const factor = (): number => {
    const token = tokens[at++];
    if (token === '-') return -factor();
    if (token === '+') return factor();
    if (token !== undefined && /^\d/.test(token)) return Number(token);
    if (token !== '(') throw unexpected(token);
    const value = sum();
    if (tokens[at++] !== ')') throw new Error('a closing parenthesis is missing');
    return value;
  };

  const value = sum();
  if (at < tokens.length) throw unexpected(tokens[at]);
  return value;
}

function nonZero(divisor: number): number {
  if (divisor === 0) throw new Error('nothing can be divided by 0');
  return divisor;
}

function unexpected(token: string | undefined): Error {
  return new Error(token === undefined ? 'the expression ends too early' : `"${token}" does not belong there`);
}
