const mark = '. Its last output: ';

/**
 * Returns what a message says about a program that failed, and at its end what it printed last, if it printed anything.
 */
export function withLastOutput(what: string, printed: string): string {
  const words = printed.trim();
  return words === '' ? what : `${what}${mark}${words}`;
}

/** Puts what the engine adds before a program's last output, so that it is not taken for one of them. */
export function beforeLastOutput(message: string, addition: string): string {
  const at = message.indexOf(mark);
  return at < 0 ? `${message}${addition}` : `${message.slice(0, at)}${addition}${message.slice(at)}`;
}
