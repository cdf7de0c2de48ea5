"""Two turns with AutoGen and the spans of OpenInference."""

import asyncio
import os

from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from openinference.instrumentation.autogen_agentchat import AutogenAgentChatInstrumentor
from spans import INSTRUCTIONS, STATUSES, TURNS, tried_twice, write_spans

AutogenAgentChatInstrumentor().instrument(tracer_provider=write_spans())
model = OpenAIChatCompletionClient(
    model="scripted",
    base_url=os.environ["MODEL_URL"],
    api_key="none",
    max_retries=0,
    model_info={
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "structured_output": False,
        "family": "unknown",
    },
)


async def get_order(order_id: str) -> str:
    """Returns the status of an order."""
    return STATUSES[order_id]


async def main() -> None:
    agent = AssistantAgent(
        "desk",
        model,
        tools=[get_order],
        system_message=INSTRUCTIONS,
        reflect_on_tool_use=True,
    )

    async def attempt(said: str, state):
        await agent.load_state(state)
        return await agent.run(task=said)

    for said in TURNS:
        await tried_twice(attempt, said, await agent.save_state())


asyncio.run(main())
