import { DebugSession } from '@vscode/debugadapter'; // expects: noRestrictedImports
import { APIError } from 'openai'; // expects: noRestrictedImports
import * as vscode from 'vscode'; // expects: noRestrictedImports
import { activate } from '../extension/main.ts'; // expects: noRestrictedImports

export const used = [DebugSession, APIError, vscode, activate];
