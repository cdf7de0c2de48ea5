import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { DebugSession } from '@vscode/debugadapter'; // expects: noRestrictedImports
import { APIError } from 'openai'; // expects: noRestrictedImports

export const used = [Client, DebugSession, APIError];
