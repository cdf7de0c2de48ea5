"""Two turns with Strands Agents and its own spans."""

import asyncio
import os

from spans import INSTRUCTIONS, STATUSES, TURNS, tried_twice, write_spans
from strands import Agent, tool
from strands.models.openai import OpenAIModel

write_spans()


@tool
def get_order(order_id: str) -> str:
    """Returns the status of an order."""
    return STATUSES[order_id]


settings = {"base_url": os.environ["MODEL_URL"], "api_key": "none", "max_retries": 0}
model = OpenAIModel(client_args=settings, model_id="scripted")


async def main() -> None:
    agent = Agent(model=model, tools=[get_order], system_prompt=INSTRUCTIONS, callback_handler=None)

    async def attempt(said: str, history: list):
        agent.messages[:] = history
        return await agent.invoke_async(said)

    for said in TURNS:
        await tried_twice(attempt, said, list(agent.messages))


asyncio.run(main())
