import { isObject, type Json, jsonOf } from '../values/json.ts';

/** A sentence that begins or ends as messages of failed calls do. */
const beginning =
  /^\W*(?:an? )?(?:error|exception|failure|failed|unable|cannot|can['’]?t|could(?: not|n['’]?t)|invalid|unknown|unauthori[sz]ed|forbidden|access denied|permission denied|not found|no such|there (?:is|are) no such|traceback)\b/i;
const ending =
  /\b(?:not found|found nothing|does(?: not|n['’]t) exist|is (?:not allowed|not permitted|not valid|invalid|required)|access denied|permission denied|failed)\W*$/i;
/** Longer texts are content, which may mention errors. */
const longest = 300;

/**
 * Whether the result of a call reads as the message of an error, although nothing marks it as one: logs and many tools
 * return errors as plain text, or as JSON with an `error`.
 */
export function readsAsError(content: string): boolean {
  const value = jsonOf(content) as Json | undefined;
  if (isObject(value)) {
    const { error, status, success, ok } = value;
    if (success === false || ok === false) return true;
    return (
      (error !== undefined && error !== null && error !== false && error !== '') ||
      /^(?:error|failed)$/i.test(String(status))
    );
  }
  const text = typeof value === 'string' ? value : value === undefined ? content : '';
  return text.length <= longest && (beginning.test(text) || ending.test(text));
}
