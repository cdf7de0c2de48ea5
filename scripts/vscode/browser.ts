import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser as Window } from 'playwright-core';
import { findOnPath, isExecutable, runCommand, runNpm } from '../process.ts';
import { announce, elapsed, Failure, warn, withHeartbeat } from '../terminal.ts';
import { cacheFolder, installOnce } from './cacheFolder.ts';

const packageVersion = '153.0.0';
const folder = join(cacheFolder(), 'chromium', packageVersion);
const fontConfiguration = join(folder, 'fonts.conf');

/** A headless browser that playwright-core can launch. */
export type Browser = { executablePath: string; args: string[]; env: Record<string, string> };

/** Switches that keep Chromium quiet, offline and able to run as any user. */
const quietArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Returns a Chromium of this machine: REHEARSAL_BROWSER, one on PATH, or one where macOS and Windows keep it. */
export function findBrowser(): Browser | undefined {
  const installed = [
    process.env.REHEARSAL_BROWSER,
    findOnPath('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge'),
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    join(process.env.ProgramFiles ?? 'C:\\Program Files', 'Google', 'Chrome', 'Application', 'chrome.exe'),
    join(process.env['ProgramFiles(x86)'] ?? 'C:\\', 'Microsoft', 'Edge', 'Application', 'msedge.exe'),
  ].find((path) => path !== undefined && isExecutable(path));
  if (installed) return { executablePath: installed, args: quietArgs, env: {} };
  const unpacked = join(folder, 'unpacked', 'chromium');
  return existsSync(join(folder, 'complete')) ? packagedBrowser(unpacked) : undefined;
}

/** Finds a Chromium or installs one: the npm package @sparticuz/chromium, else Debian's package as root. */
export async function installBrowser(): Promise<Browser> {
  const found = findBrowser();
  if (found) return found;
  if (process.platform !== 'linux') {
    throw new Failure('No Chromium, Chrome or Edge was found. Install one, or set REHEARSAL_BROWSER to its path.');
  }
  return (await fromNpm()) ?? (await fromApt());
}

/**
 * Launches a headless browser, installing one first if necessary.
 * @param temporary an existing folder for the temporary files of the browser. One that is killed leaves some there
 */
export async function launchBrowser(temporary = tmpdir()): Promise<Window> {
  const { executablePath, args, env } = await installBrowser();
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  // Imported here, because loading it takes half a second, and most commands only look for a browser.
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath,
    args,
    env: { ...Object.fromEntries(inherited), TMPDIR: temporary, ...env },
  });
}

function packagedBrowser(executablePath: string): Browser {
  return { executablePath, args: [...quietArgs, '--headless=shell'], env: { FONTCONFIG_FILE: fontConfiguration } };
}

async function fromNpm(): Promise<Browser | undefined> {
  if (process.arch !== 'x64') return undefined;
  const unpacked = join(folder, 'unpacked');
  try {
    await withHeartbeat(
      'Chromium',
      installOnce(folder, () => unpackPackage(unpacked)),
    );
  } catch (error) {
    warn(`Chromium from npm does not run here: ${(error as Error).message}`);
    return undefined;
  }
  return packagedBrowser(join(unpacked, 'chromium'));
}

async function unpackPackage(unpacked: string): Promise<void> {
  announce(`Downloading Chromium (@sparticuz/chromium ${packageVersion} from npm; 70 MB, 320 MB on disk)`);
  announce(`  into ${folder}`);
  const started = performance.now();
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  const { code, output } = await runNpm(folder, [
    'install',
    '--ignore-scripts',
    `@sparticuz/chromium@${packageVersion}`,
  ]);
  if (code !== 0) throw new Error(output.trim());
  mkdirSync(unpacked, { recursive: true });
  // The package unpacks into the temporary folder, which may be emptied at any time; the cache folder is not.
  const index = pathToFileURL(join(folder, 'node_modules', '@sparticuz', 'chromium', 'build', 'index.js'));
  const script = `const { default: chromium } = await import(${JSON.stringify(index.href)}); await chromium.executablePath();`;
  const env = { ...process.env, TMPDIR: unpacked };
  const unpacking = await runCommand(process.execPath, ['--input-type=module', '-e', script], { env });
  if (unpacking.code !== 0) throw new Error(unpacking.output.trim());
  writeFileSync(fontConfiguration, fontConfigurationText(join(unpacked, 'fonts')));
  const trial = await runCommand(join(unpacked, 'chromium'), ['--version']);
  if (trial.code !== 0) throw new Error(trial.output.trim());
  announce(`Chromium is installed (${elapsed(started)})`);
}

/** The system's fonts and the package's own: without any font, this Chromium crashes at the first text. */
function fontConfigurationText(fonts: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${fonts}</dir>
  <cachedir>${join(folder, 'font-cache')}</cachedir>
</fontconfig>
`;
}

async function fromApt(): Promise<Browser> {
  const advice = 'Install Chromium or Google Chrome, or set REHEARSAL_BROWSER to its path.';
  const isDebian = existsSync('/etc/debian_version') && /debian/i.test(readFileSync('/etc/os-release', 'utf8'));
  if (!isDebian || process.getuid?.() !== 0) throw new Failure(`No Chromium was found. ${advice}`);
  announce('Downloading Chromium with apt-get (about 110 MB, 400 MB on disk)');
  const started = performance.now();
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['install', '--yes', '--no-install-recommends', 'chromium'];
  await withHeartbeat('apt-get update', runCommand('apt-get', ['update'], { env }));
  const { code, output } = await withHeartbeat('apt-get install', runCommand('apt-get', install, { env }));
  const executablePath = findOnPath('chromium');
  if (code !== 0 || !executablePath)
    throw new Failure(`apt-get could not install chromium. ${advice}\n${output.trim()}`);
  announce(`Chromium is installed (${elapsed(started)})`);
  return { executablePath, args: quietArgs, env: {} };
}
