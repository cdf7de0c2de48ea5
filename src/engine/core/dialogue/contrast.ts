import { patterns } from './patterns.ts';

const { alternative, rejectedSide } = patterns.contrast;

/**
 * Reports whether a text offers one of several things: "the red or the blue one". In "or not" and "or leave it" there
 * is no second thing.
 */
export const hasAlternative = (text: string): boolean => alternative.test(text);

/**
 * Returns a text without the rejected side of a contrast: "oak instead of white" becomes "oak", and "56, not 65"
 * becomes "56".
 */
export const withoutContrast = (text: string): string => text.replace(rejectedSide, '');
