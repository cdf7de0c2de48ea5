import type { DebugProtocol } from '@vscode/debugprotocol';
import { filters } from './breakpoints/exceptionFilters.ts';

/** What this adapter can do, as a client learns at the start. */
export const capabilities = {
  supportsConfigurationDoneRequest: true,
  supportsStepBack: true,
  supportsSetVariable: true,
  supportsSetExpression: true,
  supportsRestartFrame: true,
  supportsGotoTargetsRequest: true,
  supportsStepInTargetsRequest: true,
  supportsFunctionBreakpoints: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsDataBreakpoints: true,
  supportsBreakpointLocationsRequest: true,
  supportsExceptionInfoRequest: true,
  supportsEvaluateForHovers: true,
  supportsCompletionsRequest: true,
  completionTriggerCharacters: ['.', '/'],
  supportsTerminateRequest: true,
  supportsANSIStyling: true,
  exceptionBreakpointFilters: [...filters],
} satisfies DebugProtocol.Capabilities;
