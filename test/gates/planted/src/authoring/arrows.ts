import { Client } from '@modelcontextprotocol/sdk/client/index.js'; // expects: noRestrictedImports
import { APIError } from 'openai'; // expects: noRestrictedImports
import * as vscode from 'vscode'; // expects: noRestrictedImports
import { main } from '../cli/main.ts'; // expects: noRestrictedImports
import { activate } from '../extension/main.ts'; // expects: noRestrictedImports
import { mount } from '../webview/main.tsx'; // expects: noRestrictedImports

export const used = [Client, APIError, vscode, main, activate, mount];
