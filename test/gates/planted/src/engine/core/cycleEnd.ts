import { start } from './cycleStart.ts'; // expects: noImportCycles

export const end = (): number => start();
