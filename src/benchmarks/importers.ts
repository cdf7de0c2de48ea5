import type { Benchmark } from '../engine/core/domain/benchmark.ts';
import { acebench } from './acebench.ts';
import { bfcl } from './bfcl.ts';
import type { Importer } from './importer.ts';
import { tau1 } from './tau1.ts';
import { tau2 } from './tau2.ts';

/** The importer of each benchmark. */
export const importers: Readonly<Record<Benchmark, Importer>> = { tau2, tau1, bfcl, acebench };
