/**
 * The formats in which tools and calls are written for a trained model: its own chat template, or a compact format for
 * small models. `auto` uses the template if it shows the tools to the model.
 */
export const dialects = ['auto', 'template', 'compact'] as const;
export type Dialect = (typeof dialects)[number];

/** The default dialect. */
export const usualDialect: Dialect = 'auto';
