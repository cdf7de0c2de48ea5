import { Client } from '@modelcontextprotocol/sdk/client/index.js'; // expects: noRestrictedImports
import { DebugSession } from '@vscode/debugadapter';
import { APIError } from 'openai'; // expects: noRestrictedImports
import { activate } from '../../extension/main.ts'; // expects: noRestrictedImports

export const used = [Client, DebugSession, APIError, activate];
