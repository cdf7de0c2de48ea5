/** The source of a pattern that finds exactly this text. */
export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** Whether a name fits a pattern in which `*` matches any letters. */
export function nameMatches(name: string, pattern: string): boolean {
  return new RegExp(`^${pattern.split('*').map(literal).join('.*')}$`).test(name);
}
