"""Two turns with CrewAI and the spans of OpenInference."""

import asyncio
import os

from crewai import LLM, Agent
from crewai.tools import tool
from openinference.instrumentation.crewai import CrewAIInstrumentor
from spans import INSTRUCTIONS, STATUSES, TURNS, tried_twice, write_spans

CrewAIInstrumentor().instrument(tracer_provider=write_spans(), use_event_listener=True)


@tool("get_order")
def get_order(order_id: str) -> str:
    """Returns the status of an order."""
    return STATUSES[order_id]


model = LLM(model="openai/scripted", base_url=os.environ["MODEL_URL"], api_key="none", max_retries=0)


async def main() -> None:
    history: list = []

    async def attempt(said: str):
        agent = Agent(role="desk", goal=INSTRUCTIONS, backstory=INSTRUCTIONS, llm=model, tools=[get_order])
        return await agent.kickoff_async([*history, {"role": "user", "content": said}])

    for said in TURNS:
        answer = await tried_twice(attempt, said)
        history[:] = [each for each in answer.messages if each["role"] != "system"]


asyncio.run(main())
