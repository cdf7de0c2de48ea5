/**
 * Marks each line that tests print, invisibly. The workbench forwards its own log on the same channel, and the launcher
 * shows only marked lines. With REHEARSAL_VERBOSE=1 it shows all.
 */
export const testMark = '\u2060';
