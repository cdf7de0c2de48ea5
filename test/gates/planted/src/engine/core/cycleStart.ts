import { end } from './cycleEnd.ts'; // expects: noImportCycles

export const start = (): number => end();
