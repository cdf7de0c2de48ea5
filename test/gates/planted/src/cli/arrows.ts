import { DebugSession } from '@vscode/debugadapter'; // expects: noRestrictedImports
import * as vscode from 'vscode'; // expects: noRestrictedImports
import { activate } from '../extension/main.ts'; // expects: noRestrictedImports

export const used = [DebugSession, vscode, activate];
