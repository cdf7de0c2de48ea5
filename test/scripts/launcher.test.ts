import { expect, test } from 'vitest';
import { parseLauncherArguments, testPage } from '../../scripts/vscode/launcher.ts';

const commandLine = [
  '/domains/order-desk',
  '--disable-extensions',
  '--no-sandbox',
  '--extensionTestsPath=/repository/dist/test/host/index.cjs',
  '--extensionDevelopmentPath=/repository',
  '--user-data-dir=/tmp/user-data',
];

test.skipIf(process.platform === 'win32')('takes the command line that @vscode/test-electron gives VS Code', () => {
  const options = parseLauncherArguments(commandLine);
  expect(options).toEqual({
    extension: '/repository',
    tests: '/repository/dist/test/host/index.cjs',
    folder: '/domains/order-desk',
  });
  const page = new URL(testPage('http://127.0.0.1:8123', options));
  expect(page.searchParams.get('folder')).toBe('/domains/order-desk');
  expect(JSON.parse(page.searchParams.get('payload') ?? '')).toEqual([
    ['extensionDevelopmentPath', 'vscode-remote://127.0.0.1:8123/repository'],
    ['extensionTestsPath', 'vscode-remote://127.0.0.1:8123/repository/dist/test/host/index.cjs'],
  ]);
});

test('says which arguments are missing', () => {
  expect(() => parseLauncherArguments(['/folder'])).toThrow('--extensionDevelopmentPath=FOLDER');
});
