"""Two turns with an agent of LangGraph and the spans of OpenInference."""

import asyncio
import os

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from openinference.instrumentation.langchain import LangChainInstrumentor
from spans import INSTRUCTIONS, STATUSES, TURNS, tried_twice, write_spans

LangChainInstrumentor().instrument(tracer_provider=write_spans())
model = ChatOpenAI(model="scripted", base_url=os.environ["MODEL_URL"], api_key="none", max_retries=0)


def get_order(order_id: str) -> str:
    """Returns the status of an order."""
    return STATUSES[order_id]


agent = create_agent(model, [get_order], system_prompt=INSTRUCTIONS)


async def main() -> None:
    history = []
    for said in TURNS:
        turn = {"messages": [*history, {"role": "user", "content": said}]}
        result = await tried_twice(agent.ainvoke, turn)
        history = result["messages"]


asyncio.run(main())
