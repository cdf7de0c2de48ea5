/** A published library of agents, and the instrumentation that records its spans. */
export type Library = {
  /** The name of its capture: `captured/NAME.jsonl`. */
  readonly name: string;
  readonly label: string;
  readonly registry: 'npm' | 'PyPI';
  /** Pinned packages. */
  readonly packages: readonly string[];
  readonly bytes: number;
  /** The script in `desks` that runs the conversation. */
  readonly desk: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The system prompt, if the library adds to the instructions. */
  readonly system?: string;
  /** Returns the result of a tool as the library shows it, if it changes the result. */
  readonly result?: (status: string) => string;
};

const sdk = 'opentelemetry-sdk==1.45.2';

export const libraries: readonly Library[] = [
  {
    name: 'pydantic-ai',
    label: 'Pydantic AI',
    registry: 'PyPI',
    packages: ['pydantic-ai-slim[openai]==2.68.0', sdk],
    bytes: 114e6,
    desk: 'pydantic_ai_desk.py',
  },
  {
    name: 'openai-agents',
    label: 'OpenAI Agents SDK',
    registry: 'PyPI',
    packages: ['openai-agents==0.24.0', 'openinference-instrumentation-openai-agents==2.6.0', sdk],
    bytes: 127e6,
    desk: 'openai_agents_desk.py',
  },
  {
    name: 'langgraph',
    label: 'LangGraph',
    registry: 'PyPI',
    packages: [
      'langgraph==1.2.24',
      'langchain==1.5.2',
      'langchain-openai==1.7.4',
      'openinference-instrumentation-langchain==0.1.80',
      sdk,
    ],
    bytes: 150e6,
    desk: 'langgraph_desk.py',
  },
  {
    name: 'strands',
    label: 'Strands Agents',
    registry: 'PyPI',
    packages: ['strands-agents[openai]==1.62.0'],
    bytes: 149e6,
    desk: 'strands_desk.py',
  },
  {
    name: 'agent-framework',
    label: 'Microsoft Agent Framework',
    registry: 'PyPI',
    packages: ['agent-framework-core==1.23.0', 'agent-framework-openai==1.17.0', sdk],
    bytes: 92e6,
    desk: 'agent_framework_desk.py',
  },
  {
    name: 'smolagents',
    label: 'smolagents',
    registry: 'PyPI',
    packages: ['smolagents[openai]==1.26.0', 'openinference-instrumentation-smolagents==0.1.43', sdk],
    bytes: 148e6,
    desk: 'smolagents_desk.py',
  },
  {
    name: 'autogen',
    label: 'AutoGen',
    registry: 'PyPI',
    packages: [
      'autogen-agentchat==0.7.5',
      'autogen-ext[openai]==0.7.5',
      'openinference-instrumentation-autogen-agentchat==0.1.22',
      sdk,
    ],
    bytes: 120e6,
    desk: 'autogen_desk.py',
  },
  {
    name: 'openai-traceloop',
    label: 'OpenAI client with OpenLLMetry',
    registry: 'PyPI',
    packages: ['openai==3.57.0', 'opentelemetry-instrumentation-openai==0.62.4', sdk],
    bytes: 90e6,
    desk: 'openai_traceloop_desk.py',
  },
  {
    name: 'google-adk',
    label: 'Agent Development Kit of Google',
    registry: 'PyPI',
    packages: ['google-adk==2.13.0'],
    bytes: 137e6,
    desk: 'google_adk_desk.py',
    env: {
      OTEL_SEMCONV_STABILITY_OPT_IN: 'gen_ai_latest_experimental',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_ONLY',
    },
    system: 'Be brief.\n\nYou are an agent. Your internal name is "desk".',
    result: (result) => JSON.stringify({ result }),
  },
  {
    name: 'crewai',
    label: 'CrewAI',
    registry: 'PyPI',
    packages: ['crewai==1.15.30', 'openinference-instrumentation-crewai==1.1.21', sdk],
    bytes: 1017e6,
    desk: 'crewai_desk.py',
    env: { CREWAI_DISABLE_TELEMETRY: 'true', CREWAI_TRACING_ENABLED: 'false' },
    system: 'You are desk. Be brief.\nYour personal goal is: Be brief.',
  },
  ...(['vercel-ai', 'vercel-ai-earlier'] as const).map((name): Library => {
    const isEarlier = name === 'vercel-ai-earlier';
    return {
      name,
      label: isEarlier ? 'AI SDK of Vercel, earlier attributes' : 'AI SDK of Vercel',
      registry: 'npm',
      packages: [
        'ai@7.0.173',
        '@ai-sdk/openai-compatible@3.0.92',
        '@ai-sdk/otel@1.0.173',
        '@opentelemetry/sdk-trace-node@2.12.1',
        '@opentelemetry/otlp-transformer@0.223.1',
        'zod@4.1.12',
      ],
      bytes: 40e6,
      desk: 'vercel_ai_desk.mjs',
      ...(isEarlier ? { env: { EARLIER_ATTRIBUTES: '1' } } : {}),
    };
  }),
];
