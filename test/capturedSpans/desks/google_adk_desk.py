"""Two turns with Google's Agent Development Kit and its own spans."""

import asyncio
import os

from google.adk.agents import LlmAgent
from google.adk.models import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import types
from spans import INSTRUCTIONS, STATUSES, TURNS, tried_twice, write_spans

write_spans()
os.environ["GOOGLE_API_KEY"] = "none"
os.environ["GOOGLE_GEMINI_BASE_URL"] = os.environ["MODEL_URL"].removesuffix("/v1")


def get_order(order_id: str) -> str:
    """Returns the status of an order."""
    return STATUSES[order_id]


async def main() -> None:
    model = Gemini(model="scripted", retry_options=types.HttpRetryOptions(attempts=1))
    agent = LlmAgent(name="desk", model=model, instruction=INSTRUCTIONS, tools=[get_order])
    runner = InMemoryRunner(agent=agent, app_name="desk")
    sessions = runner.session_service
    user = {"app_name": "desk", "user_id": "user"}
    session = await sessions.create_session(**user)
    place = {"user_id": "user", "session_id": session.id}

    async def attempt(said: str):
        message = types.Content(role="user", parts=[types.Part(text=said)])
        try:
            async for _ in runner.run_async(**place, new_message=message):
                pass
        except Exception:
            failed = (await sessions.get_session(**user, session_id=session.id)).events[-1].invocation_id
            await runner.rewind_async(**place, rewind_before_invocation_id=failed)
            raise

    for said in TURNS:
        await tried_twice(attempt, said)


asyncio.run(main())
