import type { End } from './cycleOfTypesEnd.ts'; // expects: noImportCycles

export type Start = { readonly end: End };
