import { Client } from '@modelcontextprotocol/sdk/client/index.js'; // expects: noRestrictedImports
import { DebugSession } from '@vscode/debugadapter';
import { activate } from '../../extension/main.ts'; // expects: noRestrictedImports

export const used = [Client, DebugSession, activate];
