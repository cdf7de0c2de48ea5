import { pythonWith } from './copy.ts';

/** A public set of dialogues (BSD licence). One part is technical support: 1,050 requests, each with its answer. */
export const dialogueCorpus = pythonWith(['chatterbot-corpus==1.3.3'], {
  name: 'chatterbot-corpus-1.3.3',
  variable: 'REHEARSAL_CHATTERBOT_CORPUS',
  bytes: 15e6,
});
