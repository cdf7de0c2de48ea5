"""A support agent in Python, with nothing but the standard library: its model and its tools are two addresses.

Write the same with the packages `openai` and `mcp` if you have them; what is Rehearsal's is the loop at the end.
"""

import json
import os
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

KEY = os.environ["OPENAI_API_KEY"]
# Somebody may look at a breakpoint before a tool returns, so there is an hour for each call.
PATIENCE = 3600


def post(url: str, body: dict, **headers: str) -> tuple[dict, str | None]:
    """Sends JSON and returns the JSON of the answer, which may be the last event of a stream, and the MCP session."""
    accepted = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    given = {"Authorization": f"Bearer {KEY}", **accepted, **headers}
    try:
        answer = urlopen(Request(url, json.dumps(body).encode(), given), timeout=PATIENCE)
    except HTTPError as error:
        # The body has the reason, which the error itself does not show.
        sys.exit(f"{url}: {error}: {error.read().decode()}")
    with answer:
        text, session = answer.read().decode(), answer.headers.get("Mcp-Session-Id")
    if answer.headers.get_content_type() == "text/event-stream":
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    return (json.loads(text) if text.strip() else {}), session


class Tools:
    """The domain's tools, over MCP."""

    def __init__(self, url: str) -> None:
        self.url, self.session, self.number = url, None, 0
        client = {"name": "python-agent", "version": "1.0.0"}
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        post(self.url, {"jsonrpc": "2.0", "method": "notifications/initialized"}, **self.headers())
        listed = self.ask("tools/list")["tools"]
        self.schemas = [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool.get("description", ""),
                    "parameters": tool["inputSchema"],
                },
            }
            for tool in listed
        ]

    def headers(self) -> dict[str, str]:
        return {"Mcp-Session-Id": self.session} if self.session else {}

    def ask(self, method: str, **params: object) -> dict:
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        answer, session = post(self.url, request, **self.headers())
        self.session = self.session or session
        if "error" in answer:
            return {"content": [{"type": "text", "text": "Error: " + answer["error"]["message"]}]}
        return answer["result"]

    def call(self, name: str, arguments: dict) -> str:
        content = self.ask("tools/call", name=name, arguments=arguments)["content"]
        return "\n".join(part["text"] for part in content if part["type"] == "text")


def answer_to(messages: list[dict], tools: Tools) -> str:
    """Asks the model and calls its tools until it speaks. What was said and called is added to the messages."""
    while True:
        request = {"model": "lent", "messages": messages, "tools": tools.schemas}
        reply, _ = post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", request)
        message = reply["choices"][0]["message"]
        messages.append(message)
        calls = message.get("tool_calls") or []
        if not calls:
            return message["content"]
        for call in calls:
            function = call["function"]
            result = tools.call(function["name"], json.loads(function["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def main() -> None:
    tools = Tools(os.environ["REHEARSAL_MCP_URL"])
    messages: list[dict] = []
    for line in sys.stdin:
        turn = json.loads(line)
        messages = [*messages, turn["messages"][-1]] if messages else turn["messages"]
        print(json.dumps({"content": answer_to(messages, tools)}), flush=True)


if __name__ == "__main__":
    main()
