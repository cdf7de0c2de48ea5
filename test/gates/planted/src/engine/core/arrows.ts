import { readFileSync } from 'node:fs'; // expects: noNodejsModules
import OpenAI from 'openai'; // expects: noRestrictedImports
import * as vscode from 'vscode'; // expects: noRestrictedImports
import { writeDomain } from '../../authoring/writtenDomain.ts'; // expects: noRestrictedImports
import { main } from '../../cli/main.ts'; // expects: noRestrictedImports
import { activate } from '../../extension/main.ts'; // expects: noRestrictedImports
import { hover } from '../../language/hover.ts'; // expects: noRestrictedImports
import type { Rollout } from '../shell/rollout/driver.ts'; // expects: noRestrictedImports

export { drive } from '../shell/rollout/driver.ts'; // expects: noRestrictedImports

export const later = import('../shell/rollout/driver.ts'); // expects: noRestrictedImports
export const used = [readFileSync, OpenAI, vscode, writeDomain, main, activate, hover] as unknown as Rollout;
