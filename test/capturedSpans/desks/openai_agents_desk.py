"""Two turns with the OpenAI Agents SDK and the spans of OpenInference."""

import asyncio
import os

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool
from openai import AsyncOpenAI
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from spans import INSTRUCTIONS, STATUSES, TURNS, tried_twice, write_spans

OpenAIAgentsInstrumentor().instrument(tracer_provider=write_spans())
client = AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="none", max_retries=0)


@function_tool
def get_order(order_id: str) -> str:
    """Returns the status of an order."""
    return STATUSES[order_id]


agent = Agent(
    name="desk",
    instructions=INSTRUCTIONS,
    tools=[get_order],
    model=OpenAIChatCompletionsModel("scripted", client),
)


async def main() -> None:
    history = []
    for said in TURNS:
        turn = [*history, {"role": "user", "content": said}]
        result = await tried_twice(Runner.run, agent, turn)
        history = result.to_input_list()


asyncio.run(main())
