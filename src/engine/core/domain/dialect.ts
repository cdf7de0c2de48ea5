/** How tools and calls are written for a trained model: by its own chat template, or briefly, for small models. `auto`: the template, where it shows the model its tools. */
export const dialects = ['auto', 'template', 'compact'] as const;
export type Dialect = (typeof dialects)[number];

/** The dialect where none is named. */
export const usualDialect: Dialect = 'auto';
