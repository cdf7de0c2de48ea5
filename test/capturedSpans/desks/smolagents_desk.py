"""Two turns with smolagents and the spans of OpenInference."""

import asyncio
import os

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import OpenAIServerModel, ToolCallingAgent, tool
from spans import INSTRUCTIONS, STATUSES, TURNS, tried_twice, write_spans

SmolagentsInstrumentor().instrument(tracer_provider=write_spans())


@tool
def get_order(order_id: str) -> str:
    """Returns the status of an order.

    Args:
        order_id: The id of the order.
    """
    return STATUSES[order_id]


model = OpenAIServerModel(
    "scripted", api_base=os.environ["MODEL_URL"], api_key="none", client_kwargs={"max_retries": 0}, retry=False
)


async def main() -> None:
    agent = ToolCallingAgent([get_order], model, verbosity_level=0)
    agent.prompt_templates["system_prompt"] = INSTRUCTIONS

    async def attempt(said: str, is_first: bool):
        return agent.run(said, reset=is_first)

    for said in TURNS:
        await tried_twice(attempt, said, said == TURNS[0])


asyncio.run(main())
