/**
 * The invisible mark at the start of each line that tests print. The workbench forwards its own log on the same
 * channel, and the launcher shows only marked lines (all of them with REHEARSAL_VERBOSE=1).
 */
export const testMark = '\u2060';
