import { pathToFileURL } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';

type Tests = NonNullable<ViteUserConfig['test']>;
type Project = { readonly extends?: true; readonly test?: Tests };

const path = process.env['REHEARSAL_FLAKY_CONFIG'] ?? '';
const { default: real } = (await import(pathToFileURL(path).href)) as { default: ViteUserConfig };

/** The settings of a suite, with the planted test in place of its own tests. */
const planted = (tests: Tests | undefined): Tests => ({
  ...tests,
  root: import.meta.dirname,
  include: ['flaky.test.ts'],
  exclude: [],
  globalSetup: [],
  setupFiles: [],
});
const projects = real.test?.projects as readonly Project[] | undefined;

/** The real configuration whose path is in REHEARSAL_FLAKY_CONFIG, with the planted test in place of its own. */
export default {
  ...real,
  test: {
    ...planted(real.test),
    ...(projects && { projects: projects.map((each) => ({ ...each, test: planted(each.test) })) }),
  },
};
