import type { DebugProtocol } from '@vscode/debugprotocol';
import { filters } from './breakpoints/exceptionFilters.ts';

/** The capabilities of this adapter, which a client receives on initialization. */
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
