import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { DebugSession } from '@vscode/debugadapter'; // expects: noRestrictedImports

export const used = [Client, DebugSession];
