import { expect, test } from 'vitest';
import { parseLauncherArguments, testQuery } from '../../scripts/vscode/launcher.ts';

const commandLine = [
  '/domains/order-desk',
  '--disable-extensions',
  '--no-sandbox',
  '--extensionTestsPath=/repository/dist/test/host/index.cjs',
  '--extensionDevelopmentPath=/repository',
  '--extensionDevelopmentPath=/repository/test/more',
  '--user-data-dir=/tmp/user-data',
];

test.skipIf(process.platform === 'win32')('takes the command line that @vscode/test-electron gives VS Code', () => {
  const options = parseLauncherArguments(commandLine);
  expect(options).toEqual({
    extensions: ['/repository', '/repository/test/more'],
    tests: '/repository/dist/test/host/index.cjs',
    folder: '/domains/order-desk',
  });
  const { folder, payload = '' } = testQuery('http://127.0.0.1:8123', options);
  expect(folder).toBe('/domains/order-desk');
  expect(JSON.parse(payload)).toEqual([
    ['extensionDevelopmentPath', 'vscode-remote://127.0.0.1:8123/repository'],
    ['extensionTestsPath', 'vscode-remote://127.0.0.1:8123/repository/dist/test/host/index.cjs'],
  ]);
});

test('says which arguments are missing', () => {
  expect(() => parseLauncherArguments(['/folder'])).toThrow('--extensionDevelopmentPath=FOLDER');
});
