import { Client } from '@modelcontextprotocol/sdk/client/index.js'; // expects: noRestrictedImports
import { DebugSession } from '@vscode/debugadapter'; // expects: noRestrictedImports
import { APIError } from 'openai'; // expects: noRestrictedImports
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'; // expects: noRestrictedImports
import { writeDomain } from '../../authoring/writtenDomain.ts'; // expects: noRestrictedImports
import { tau1 } from '../../benchmarks/tau1.ts'; // expects: noRestrictedImports
import { main } from '../../cli/main.ts'; // expects: noRestrictedImports
import { activate } from '../../extension/main.ts'; // expects: noRestrictedImports
import { mount } from '../../webview/main.tsx'; // expects: noRestrictedImports
import { hover } from '../../language/hover.ts'; // expects: noRestrictedImports

export const used = [Client, DebugSession, APIError, ChatCompletionStream, writeDomain, tau1, main, activate, mount, hover];
