import { spawn } from 'node:child_process'; // expects: noRestrictedImports
import { readFileSync } from 'node:fs'; // expects: noRestrictedImports
import { Client } from '@modelcontextprotocol/sdk/client/index.js'; // expects: noRestrictedImports
import { DebugSession } from '@vscode/debugadapter'; // expects: noRestrictedImports
import { APIError } from 'openai'; // expects: noRestrictedImports
import * as vscode from 'vscode'; // expects: noRestrictedImports
import { importConversations } from '../authoring/conversations/importConversations.ts'; // expects: noRestrictedImports
import { main } from '../cli/main.ts'; // expects: noRestrictedImports
import { activate } from '../extension/main.ts'; // expects: noRestrictedImports
import { mount } from '../webview/main.tsx'; // expects: noRestrictedImports

export const used = [spawn, readFileSync, Client, DebugSession, APIError, vscode, importConversations, main, activate, mount];
