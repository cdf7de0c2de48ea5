/** The public benchmarks that can be imported: an adapter of the bridge drives the environment of each. */
export const benchmarks = ['tau2', 'tau1', 'bfcl', 'acebench'] as const;
export type Benchmark = (typeof benchmarks)[number];
