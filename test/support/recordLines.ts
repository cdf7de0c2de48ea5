import { createHash } from 'node:crypto';

/** Returns the SHA-256 of a text, in hexadecimal digits. */
export const sha = (text: string) => createHash('sha256').update(text).digest('hex');

/** Returns the lines of a record, without line breaks. */
export const linesOf = (bytes: Buffer) => bytes.toString('utf8').split('\n').slice(0, -1);

/** Returns a record with these lines. */
export const fileOf = (lines: readonly string[]) => Buffer.from(lines.map((line) => `${line}\n`).join(''));

/** Chains the lines of a recording or a sidecar again, as an attacker without the key can. */
export function rechained(lines: readonly string[]): readonly string[] {
  let head = '0'.repeat(64);
  return lines.map((line) => {
    const { chain: _, ...rest } = JSON.parse(line) as { chain: string };
    const text = JSON.stringify(rest);
    head = sha(head + text);
    return `${text.slice(0, -1)},"chain":"${head}"}`;
  });
}
