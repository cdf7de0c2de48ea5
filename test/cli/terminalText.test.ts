import { expect, test } from 'vitest';
import { writerTo } from '../../src/cli/main.ts';
import { lineText } from '../../src/cli/terminal/transcript.ts';
import { terminalText } from '../../src/engine/core/text/terminalText.ts';
import { formatDiagnostic, startOf } from '../../src/engine/shell/files/diagnostic.ts';

test.each([
  ['a colour', 'a\u001b[31mb', 'ab'],
  ['hidden text', 'a\u001b[8mb\u001b[28m', 'ab'],
  ['the cursor and a cleared screen', 'a\u001b[2J\u001b[1;1Hb', 'ab'],
  ['C1 instead of escape', 'a\u009b2Jb', 'ab'],
  ['a title', 'a\u001b]0;title\u0007b', 'ab'],
  ['a title that ends with ST', 'a\u001b]0;title\u001b\\b', 'ab'],
  ['the clipboard', 'a\u001b]52;c;ZXZpbA==\u0007b', 'ab'],
  ['a link', '\u001b]8;;http://a\u0007text\u001b]8;;\u0007', 'text'],
  ['a device string', 'a\u001bPq#0\u001b\\b', 'ab'],
  ['a reset', 'a\u001bcb', 'ab'],
  ['a sequence that is cut off', 'a\u001b[', 'a'],
  ['an overwritten line', 'denied\rallowed', 'deniedallowed'],
  ['a cleared line', 'denied\r\u001b[Kallowed', 'deniedallowed'],
  ['bells, backspaces, null and delete', 'a\u0007\u0008\u0000\u007fb', 'ab'],
  ['reordered letters', 'a\u202egpj.exe\u202c\u2066b\u2069', 'agpj.exeb'],
  ['line feeds, tabs and letters of any script', 'a\n\tü 你 🙂 \u05d0', 'a\n\tü 你 🙂 \u05d0'],
  ['line ends of Windows', 'a\r\nb', 'a\nb'],
])('%s', (_, text, shown) => {
  expect(terminalText(text)).toBe(shown);
});

test('a whole output keeps the colors and the cleared line of the command line, and nothing else', () => {
  expect(terminalText('\r\u001b[K\u001b[32magent\u001b[0m\u001b[8m\u001b[2J\u009b1m\r\n\u001b[90mnote', true)).toBe(
    '\r\u001b[K\u001b[32magent\u001b[0m\n\u001b[90mnote',
  );
});

test('a whole output keeps them only where the command line writes them', () => {
  expect(terminalText('denied\r\u001b[Kallowed \u001b[32mheld\u001b[0m', true)).toBe('deniedallowed held\u001b[0m');
});

test('a line of a transcript has the colours of its label alone', () => {
  const line = { speaker: 'agent', text: 'done\u001b[2J\u001b[31m\u202e' } as const;
  expect(lineText(line, true)).toBe('\u001b[32magent     \u001b[0mdone');
  expect(lineText(line, false)).toBe('agent     done');
});

test.each([
  ['text', 'dom\u001b[2J: a\u009b1m\u0007b \u05d0\u200f\n', 'dom: ab \u05d0\u200f\n'],
  ['JSON', '{"a":"\u009b1m\u202e"}\n', '{"a":"\u009b1m\u202e"}\n'],
  ['what begins like JSON', '{a}\u001b[2J: b\n', '{a}: b\n'],
])('a file or a program gets %s as it is meant', (_, text, written) => {
  const pieces: string[] = [];
  writerTo({ isTTY: false, write: (piece: string) => pieces.push(piece) > 0 })(text);
  expect(pieces).toEqual([written]);
});

test('a finding about a file with a line feed in its name is one line', () => {
  const finding = {
    ...startOf('a\n::error::x.yaml'),
    code: 'task/empty',
    severity: 'error',
    message: 'a\r\nb',
  } as const;
  expect(formatDiagnostic(finding)).toBe('a ::error::x.yaml:1:1 error task/empty a b');
});
