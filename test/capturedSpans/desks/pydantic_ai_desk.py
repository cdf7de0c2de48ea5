"""Two turns with Pydantic AI and its own spans."""

import asyncio
import os

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from spans import INSTRUCTIONS, STATUSES, TURNS, tried_twice, write_spans

write_spans()
Agent.instrument_all()
client = AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="none", max_retries=0)
agent = Agent(OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client)), instructions=INSTRUCTIONS)


@agent.tool_plain
def get_order(order_id: str) -> str:
    """Returns the status of an order."""
    return STATUSES[order_id]


async def main() -> None:
    history = []
    for said in TURNS:
        result = await tried_twice(agent.run, said, message_history=history)
        history = result.all_messages()


asyncio.run(main())
