import type { ToolOrigin } from '../../core/domain/sources/sources.ts';
import { environmentProvider } from './environmentProvider.ts';
import { mcpProvider } from './mcpProvider.ts';
import { pythonProvider } from './pythonProvider.ts';
import type { ProviderContext, ToolProvider } from './toolProvider.ts';

type Provider = (context: ProviderContext) => ToolProvider;

/**
 * The provider of each kind of tool source; null where files describe the tools. A domain lists the tools in this order,
 * and the sources of a rollout start in the reverse order.
 */
const providers: Readonly<Record<ToolOrigin['type'], Provider | null>> = {
  code: null,
  simulated: null,
  python: pythonProvider,
  environment: environmentProvider,
  mcp: mcpProvider,
};

/** Returns the providers of all external tools. */
export const providersFor = (context: ProviderContext): readonly ToolProvider[] =>
  Object.values(providers).flatMap((provide) => provide?.(context) ?? []);
