import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson, type Json } from './json.ts';

type TextHash = (text: string) => string;

const known = { text: 'rehearsal', hash: '2bcd3e14dca8fdb18ca3d4e958bb1c4df002598ae6e5d80fc9d9824a6b5dc450' };

let hashText: TextHash = (text) => bytesToHex(sha256(utf8ToBytes(text)));

/** SHA-256 of a text's UTF-8 bytes, as 64 hex digits. */
export function textHash(text: string): string {
  return hashText(text);
}

/**
 * Puts a faster SHA-256 of the runtime in the place of the one in plain TypeScript. The results stay the same:
 * a function that gives anything else is refused.
 */
export function useNativeHash(native: TextHash): void {
  if (native(known.text) !== known.hash) throw new Error('useNativeHash needs SHA-256 of the UTF-8 text, in hex');
  hashText = native;
}

/** Hash of a JSON value by content, as 64 hex digits; the order of keys does not matter. */
export function contentHash(value: Json | undefined): string {
  return textHash(canonicalJson(value));
}
