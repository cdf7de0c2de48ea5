"""Two turns with the Microsoft Agent Framework and its own spans; its messages are log records by default."""

import asyncio
import os

from agent_framework import Agent
from agent_framework.observability import enable_sensitive_telemetry
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI
from spans import INSTRUCTIONS, STATUSES, TURNS, tried_twice, write_logs, write_spans

write_spans()
write_logs()
enable_sensitive_telemetry()
client = AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="none", max_retries=0)


def get_order(order_id: str) -> str:
    """Returns the status of an order."""
    return STATUSES[order_id]


agent = Agent(
    OpenAIChatCompletionClient("scripted", async_client=client),
    instructions=INSTRUCTIONS,
    name="desk",
    tools=[get_order],
)


async def main() -> None:
    session = agent.create_session()
    for said in TURNS:
        await tried_twice(agent.run, said, session=session)


asyncio.run(main())
