/** The extent to which personal data is masked in imported data. */
export type MaskingMark = {
  readonly masked: boolean;
  /** The recogniser that found names in free text, with its version; absent where patterns alone were used. */
  readonly recogniser?: string | undefined;
};

/** The share of names that the patterns find, in percent, as `node bench/masking.ts` measures it. */
export const measuredRecall = 69;

/** Describes what masking without a recogniser does not cover. */
export const maskingLimits = `Without a recogniser, names in free text are masked in part: the patterns find ${measuredRecall} % of the names in a measurement with ten languages. Places, employers, health and other circumstances stay`;
