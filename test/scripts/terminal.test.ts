import { expect, test } from 'vitest';
import { withMeantOption } from '../../scripts/terminal.ts';

test.each([
  ["Unknown option '--prot'. To specify a positional argument", `Unknown option '--prot'. Did you mean "--port"?`],
  ["Unknown option '--fly'. To specify", "Unknown option '--fly'. To specify"],
  ['--port must be a number', '--port must be a number'],
])('%s', (message, said) => {
  expect(withMeantOption(message, '  --folder DIR  the folder\n  --port N  the port')).toBe(said);
});
