type Scalar = string | number | boolean;

/** Returns typed text as a value of the fact's kind, or as a text if it does not fit that kind. */
export function typedFact(typed: string, before: Scalar): Scalar {
  if (typeof before === 'number' && typed.trim() !== '' && Number.isFinite(Number(typed))) return Number(typed);
  if (typeof before === 'boolean' && /^(?:true|false)$/.test(typed.trim())) return typed.trim() === 'true';
  return typed;
}

/**
 * Returns a fact as a value of another kind, where it means one: a word is not a number, and 3 is neither yes nor no. Null
 * where it does not. A fact without a value means any kind.
 */
export function factOfKind(value: Scalar, kind: string): Scalar | null {
  const text = String(value).trim();
  if (kind === 'string') return String(value);
  if (text === '') return kind === 'number' ? 0 : false;
  if (kind === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : null;
  return Number.isFinite(Number(text)) ? Number(text) : null;
}

/** Parses a path of a database: keys with dots between them, or a list in JSON. Returns null if it is neither. */
export function pathFrom(text: string): (string | number)[] | null {
  if (text.trim().startsWith('[')) {
    try {
      const read: unknown = JSON.parse(text);
      return Array.isArray(read) && read.length > 0 && read.every(isKey) ? read : null;
    } catch {
      return null;
    }
  }
  const keys = text.split('.').map((key) => key.trim());
  return keys.some((key) => key === '') ? null : keys;
}

const isKey = (key: unknown): key is string | number => typeof key === 'string' || typeof key === 'number';

/** A path as `pathFrom` reads it. */
export function pathText(path: readonly (string | number)[]): string {
  const isPlain = path.every((key) => typeof key === 'string' && /^[^.[\]\s]+$/.test(key));
  return isPlain ? path.join('.') : JSON.stringify(path);
}
