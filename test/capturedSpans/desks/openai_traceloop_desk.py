"""Two turns with the OpenAI client in a custom loop, traced by OpenLLMetry."""

import asyncio
import json
import os

from openai import AsyncOpenAI
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from spans import INSTRUCTIONS, STATUSES, TURNS, tried_twice, write_spans

OpenAIInstrumentor().instrument(tracer_provider=write_spans())
client = AsyncOpenAI(base_url=os.environ["MODEL_URL"], api_key="none", max_retries=0)
order_id = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
tools = [{"type": "function", "function": {"name": "get_order", "parameters": order_id}}]


async def main() -> None:
    messages = [{"role": "system", "content": INSTRUCTIONS}]
    for said in TURNS:
        messages.append({"role": "user", "content": said})
        while True:
            ask = client.chat.completions.create
            answer = await tried_twice(ask, model="scripted", messages=messages, tools=tools)
            message = answer.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                content = STATUSES[json.loads(call.function.arguments)["order_id"]]
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})


asyncio.run(main())
