import type { DebugProtocol } from '@vscode/debugprotocol';
import { filters } from './breakpoints.ts';

/** What this adapter can do, as a client is told at the start. */
export const capabilities: DebugProtocol.Capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsStepBack: true,
  supportsSetVariable: true,
  supportsFunctionBreakpoints: true,
  supportsDataBreakpoints: true,
  supportsBreakpointLocationsRequest: true,
  supportsExceptionInfoRequest: true,
  supportsEvaluateForHovers: true,
  supportsCompletionsRequest: true,
  completionTriggerCharacters: ['.', '/'],
  supportsTerminateRequest: true,
  supportsANSIStyling: true,
  exceptionBreakpointFilters: [...filters],
};
