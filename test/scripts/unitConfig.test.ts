import { afterEach, beforeEach, expect, test, vi } from 'vitest';

type Project = {
  readonly name: string;
  readonly globalSetup?: readonly string[];
  readonly exclude?: readonly string[];
};
type Config = {
  readonly test: { readonly globalSetup?: readonly string[]; readonly projects: readonly { readonly test: Project }[] };
};

const { argv } = process;

beforeEach(() => {
  vi.resetModules();
  vi.stubEnv('REHEARSAL_SUITE', undefined);
});

afterEach(() => {
  process.argv = argv;
  vi.unstubAllEnvs();
});

/** Returns the configuration of a vitest that is started with these arguments. */
async function configFor(...args: readonly string[]): Promise<Config['test']> {
  process.argv = [...argv.slice(0, 2), 'run', ...args];
  const { default: config } = (await import('../../vitest.config.ts')) as unknown as { readonly default: Config };
  return config.test;
}

test('tests of the source build nothing before they start', async () => {
  const { globalSetup, projects } = await configFor();
  expect(globalSetup).toBeUndefined();
  expect(projects.find(({ test: { name } }) => name === 'source')?.test).not.toHaveProperty('globalSetup');
});

test.each([
  ['no filter', [], '', false],
  ['the path of the file', ['test/cli/kills.test.ts'], '', true],
  ['its name', ['kills'], '', true],
  ['another file', ['test/cli/agent.test.ts'], '', false],
  ['an option with its name', ['--outputFile.json=/kills/report.json'], '', false],
  ['no filter in the full suite', [], 'full', true],
])('with %s, the long file test/cli/kills.test.ts runs as it should', async (_, args, suite, runs) => {
  vi.stubEnv('REHEARSAL_SUITE', suite);
  const { projects } = await configFor(...args);
  const built = projects.find(({ test: { name } }) => name === 'built');
  expect(built?.test.exclude?.includes('test/cli/kills.test.ts')).toBe(!runs);
});
