import { patterns, words } from './patterns.ts';

/** Has the wordings by which users ask for something and take it back, as drafts of tasks read them. */
export const { takesBack, leavesThing, leaves, only, others, pronoun } = patterns.withdrawal;
export const { asks, asksMore } = patterns.userActs;

const common = new Set(words.withdrawal.common);

/** Reports whether a word can tell two requests apart. */
export const isTelling = (word: string): boolean => word.length > 3 && !common.has(word);
