#!/usr/bin/env node
/** `node scripts/vscode/install.ts`: puts VS Code for the browser and a Chromium into the cache folder. */
import { runMain } from '../terminal.ts';
import { installBrowser } from './browser.ts';
import { installCodeServer } from './codeServer.ts';

await runMain(async () => {
  console.log(await installCodeServer());
  console.log((await installBrowser()).executablePath);
  return 0;
});
