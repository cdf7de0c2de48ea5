import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import JSZip from 'jszip';
import { trainerFolder } from '../python/pythonEnvironment.ts';
import { environmentFault } from './targetFaults.ts';
import { bytesOf, treeOf } from './trees.ts';

/** The trainer as a Python wheel. */
export type TrainerWheel = { readonly name: string; readonly content: Uint8Array; readonly sha256: string };

const isPackaged = (file: string) => /\.(?:py|jinja|txt)$|^keys\.json$/.test(file);

/**
 * Packs the trainer as a wheel. A release and a target get the same bytes, because a wheel depends only on the files of
 * the trainer. It is not packed by setuptools, because a machine that starts training elsewhere needs no Python.
 */
export async function packTrainerWheel(folder: string = trainerFolder()): Promise<TrainerWheel> {
  const { files } = treeOf(join(folder, 'rehearsal_trainer'), isPackaged);
  if (files.size === 0) throw environmentFault('trainer/missing', `${folder} has no trainer: install Rehearsal again`);
  const project = readFileSync(join(folder, 'pyproject.toml'), 'utf8');
  const distribution = `rehearsal_trainer-${fieldOf(project, 'version')}`;
  const information = `${distribution}.dist-info`;
  const contents = new Map([...files].map(([path, { from }]) => [path, bytesOf(from)]));
  const add = (path: string, text: string) => contents.set(`${information}/${path}`, Buffer.from(text));
  const licence = ['LICENSE', 'LICENSE.txt'].map((name) => join(folder, '..', name)).find(existsSync);
  if (licence !== undefined) add('licenses/LICENSE', readFileSync(licence, 'utf8'));
  add('METADATA', metadataOf(project, folder));
  add('WHEEL', 'Wheel-Version: 1.0\nGenerator: rehearsal\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  add('top_level.txt', 'rehearsal_trainer\n');
  add('RECORD', [...[...contents].map(recordOf), `${information}/RECORD,,\n`].join(''));
  const zip = new JSZip();
  const date = new Date(Date.UTC(1980, 0, 1));
  for (const [path, content] of contents) zip.file(path, content, { date, createFolders: false });
  const content = await zip.generateAsync({ type: 'uint8array', compression: 'DEFLATE' });
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { name: `${distribution}-py3-none-any.whl`, content, sha256 };
}

function recordOf([path, content]: readonly [string, Uint8Array]): string {
  return `${path},sha256=${createHash('sha256').update(content).digest('base64url')},${content.length}\n`;
}

/** Returns what pip and PyPI read, from what setuptools reads. */
function metadataOf(project: string, folder: string): string {
  const supported = readFileSync(join(folder, 'rehearsal_trainer', 'requirements', 'supported.txt'), 'utf8');
  const requirements = supported.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const fields = [
    'Metadata-Version: 2.4',
    `Name: ${fieldOf(project, 'name')}`,
    `Version: ${fieldOf(project, 'version')}`,
    `Summary: ${fieldOf(project, 'description')}`,
    `License-Expression: ${fieldOf(project, 'license')}`,
    ...projectUrls(project),
    `Requires-Python: ${fieldOf(project, 'requires-python')}`,
    'Description-Content-Type: text/markdown',
    'License-File: LICENSE',
    ...requirements.map((each) => `Requires-Dist: ${each}`),
  ];
  return `${fields.join('\n')}\n\n${readFileSync(join(folder, 'README.md'), 'utf8')}`;
}

/** Returns the links of a project, which a release adds to pyproject.toml. */
function projectUrls(project: string): readonly string[] {
  const [, table = ''] = /^\[project\.urls\]\n((?:\w+ = ".*"\n)*)/m.exec(project) ?? [];
  return [...table.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, name, url]) => `Project-URL: ${name}, ${url}`);
}

function fieldOf(project: string, name: string): string {
  const [, value] = new RegExp(`^${name} = "(.*)"$`, 'm').exec(project) ?? [];
  if (value === undefined) throw new Error(`pyproject.toml has no ${name}`);
  return value;
}
