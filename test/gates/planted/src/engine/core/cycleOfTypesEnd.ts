import type { Start } from './cycleOfTypesStart.ts'; // expects: noImportCycles

export type End = { readonly start: Start | null };
