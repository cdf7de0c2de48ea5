/** The folder that Rehearsal's own work lies in, of a workspace or of a domain that stands alone. */
export const workFolder = '.rehearsal';

/** Where each kind of work lies below that workspace or domain, with `/`. */
export const workFolders = {
  /** Rollouts that were played, debugged or imported. */
  runs: `${workFolder}/runs`,
  training: `${workFolder}/training`,
  experiments: `${workFolder}/experiments`,
  synth: `${workFolder}/synth`,
} as const;
