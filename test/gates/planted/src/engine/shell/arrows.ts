import { Client } from '@modelcontextprotocol/sdk/client/index.js'; // expects: noRestrictedImports
import { DebugSession } from '@vscode/debugadapter'; // expects: noRestrictedImports
import { main } from '../../cli/main.ts'; // expects: noRestrictedImports
import { activate } from '../../extension/main.ts'; // expects: noRestrictedImports
import { mount } from '../../webview/main.tsx'; // expects: noRestrictedImports
import { hover } from '../language/hover.ts'; // expects: noRestrictedImports

export const used = [Client, DebugSession, main, activate, mount, hover];
