/** How a trained model is shown its tools and writes its calls: as JSON, or as signatures, for small models. */
export const dialects = ['hermes', 'compact'] as const;
export type Dialect = (typeof dialects)[number];

/** The dialect where nobody says one. */
export const usualDialect: Dialect = 'hermes';
