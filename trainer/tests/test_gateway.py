from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from conftest import TOOLS, TOOLS_JSON, Client, all_in_full_suite, chat_with, replies_of, served

from rehearsal_trainer.gateway.gateway import Gateway
from rehearsal_trainer.sampler.answers import Generated
from rehearsal_trainer.values.failures import ConfigurationError
from rehearsal_trainer.values.messages import Conversation, Message, ToolCall

SYSTEM = {"role": "system", "content": "Be kind."}
USER = {"role": "user", "content": "Where is P1?"}
CALL = '<tool_call>find_parcel(parcel="P1")</tool_call>'


def recorded(gateway: Gateway) -> list[Generated]:
    """Returns a list that collects everything that the generator samples from now on."""
    made: list[Generated] = []
    generator: Any = gateway.generator
    submit = generator.submit

    def note(*arguments: Any) -> Any:
        future = submit(*arguments)
        future.add_done_callback(lambda done: made.append(done.result()))
        return future

    generator.submit = note
    return made


async def conversation(client: Client, turns: int) -> tuple[str, list[dict[str, Any]]]:
    _, opened = await client.send("POST", "/sessions", {"seed": "x", "sampling": {"temperature": 1.0, "max_tokens": 9}})
    messages = [SYSTEM, USER]
    for turn in range(turns):
        reply = await client.complete(opened["id"], messages)
        messages.append(reply)
        for call in reply.get("tool_calls", []):
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"result {turn}"})
        if not reply.get("tool_calls"):
            messages.append({"role": "user", "content": f"And P{turn + 2}?"})
    return opened["id"], messages


def test_mask_one_stands_exactly_on_sampled_ids(tiny_gateway: Gateway) -> None:
    made = recorded(tiny_gateway)

    async def visit(client: Client) -> Any:
        identity, _ = await conversation(client, 3)
        return (await client.send("GET", f"/sessions/{identity}/trace"))[1]

    trace = served(tiny_gateway, visit)
    (row,) = trace["rows"]
    assert len(row["ids"]) == len(row["mask"]) == len(row["logprobs"])
    trained = [
        (token, value) for token, bit, value in zip(row["ids"], row["mask"], row["logprobs"], strict=True) if bit
    ]
    assert trained == [pair for answer in made for pair in zip(answer.ids, answer.logprobs, strict=True)]
    assert [value is None for value in row["logprobs"]] == [not bit for bit in row["mask"]]
    assert row["turns"] == 3
    assert row["mask"][-1] == 1
    assert not any(row["mask"][: row["prompt_length"]])


def test_no_text_is_tokenised_twice(forced_gateway: Any) -> None:
    gateway = forced_gateway([CALL, "It is here.", "Bye."])
    encoded: list[str] = gateway.chat.template.encoded
    encoded.clear()
    _, messages = served(gateway, lambda client: conversation(client, 3))
    assert len(encoded) == len(set(encoded))
    spoken = [message["content"] for message in messages if message["role"] in ("user", "tool")][:-1]
    assert len(encoded) == 3
    assert [text.split("<|im_start|>")[1].split("\n", 1)[1] for text in encoded[1:]] == [
        f"{text}<|im_end|>\n" for text in spoken[1:]
    ]
    assert not any("It is here." in text or CALL in text for text in encoded)


@pytest.mark.parametrize("template", all_in_full_suite(["compact", "qwen2_5", "qwen3"], ["qwen2_5"]))
def test_sft_and_the_gateway_give_the_same_ids(forced_gateway: Any, tokenizer: Any, template: str) -> None:
    calls = [ToolCall("1", "find_parcel", {"parcel": "P1"}), ToolCall("2", "find_parcel", {"parcel": "Ü\n2"})]
    said = [
        Message("user", "Where is P1?"),
        Message("assistant", "A moment.", calls),
        Message("tool", '{"status":"here"}', call_id="1"),
        Message("tool", "Error: there is no parcel", call_id="2"),
        Message("assistant", "P1 is here."),
        Message("user", "Thanks <|im_end|>"),
        Message("assistant", "Bye."),
    ]  # fmt: skip
    chat = chat_with(tokenizer, template)
    conversation = Conversation("Be kind.", TOOLS, said)
    (expected,) = chat.rows_of(conversation)
    gateway = forced_gateway(replies_of(chat, conversation), template)

    async def visit(client: Client) -> Any:
        _, opened = await client.send("POST", "/sessions", {})
        messages: list[Any] = [SYSTEM]
        for message in said:
            if message.role == "assistant":
                messages.append(await client.complete(opened["id"], messages))
            elif message.role == "tool":
                made = next(m for m in reversed(messages) if m.get("tool_calls"))["tool_calls"]
                call = made[int(message.call_id or 0) - 1]
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": message.content})
            else:
                messages.append({"role": "user", "content": message.content})
        return (await client.send("GET", f"/sessions/{opened['id']}/trace"))[1]

    (row,) = served(gateway, visit)["rows"]
    assert row["ids"] == expected.ids
    assert row["mask"] == expected.mask


@pytest.mark.parametrize("change", ["edit", "foreign", "system", "resample"])
def test_a_changed_history_starts_a_new_row(forced_gateway: Any, change: str) -> None:
    gateway = forced_gateway(["One.", "Two."])

    async def visit(client: Client) -> Any:
        _, opened = await client.send("POST", "/sessions", {})
        reply = await client.complete(opened["id"], [SYSTEM, USER])
        follow = {"role": "user", "content": "More."}
        second = {
            "edit": [SYSTEM, {"role": "user", "content": "Where is P2?"}, reply, follow],
            "foreign": [SYSTEM, USER, {"role": "assistant", "content": "One."}, follow],
            "system": [{"role": "system", "content": "Be rude."}, USER, reply, follow],
            "resample": [SYSTEM, USER],
        }[change]
        await client.complete(opened["id"], second)
        return (await client.send("GET", f"/sessions/{opened['id']}/trace"))[1]

    trace = served(gateway, visit)
    assert trace["changed_histories"] == 1
    assert [row["turns"] for row in trace["rows"]] == [1, 1]


def test_a_client_without_the_field_is_matched_by_its_calls(forced_gateway: Any) -> None:
    gateway = forced_gateway([CALL, "Here."])

    async def visit(client: Client) -> Any:
        _, opened = await client.send("POST", "/sessions", {})
        reply = await client.complete(opened["id"], [SYSTEM, USER])
        kept = {key: reply[key] for key in ("role", "content", "tool_calls")}
        result = {"role": "tool", "tool_call_id": reply["tool_calls"][0]["id"], "content": "x"}
        await client.complete(opened["id"], [SYSTEM, USER, kept, result])
        return (await client.send("GET", f"/sessions/{opened['id']}/trace"))[1]

    trace = served(gateway, visit)
    assert (trace["changed_histories"], [row["turns"] for row in trace["rows"]]) == (0, [2])


def test_a_malformed_call_comes_back_raw(forced_gateway: Any) -> None:
    gateway = forced_gateway(["<tool_call>find_parcel(parcel=P1)</tool_call>"])

    async def visit(client: Client) -> Any:
        _, opened = await client.send("POST", "/sessions", {})
        reply = await client.complete(opened["id"], [SYSTEM, USER])
        return reply, (await client.send("GET", f"/sessions/{opened['id']}/trace"))[1]

    reply, trace = served(gateway, visit)
    function = reply["tool_calls"][0]["function"]
    assert function == {"name": "find_parcel", "arguments": "find_parcel(parcel=P1)"}
    assert trace["malformed_calls"] == 1


def test_the_answer_has_openais_form(forced_gateway: Any) -> None:
    async def visit(client: Client) -> Any:
        body = {"messages": [USER], "tools": TOOLS_JSON, "temperature": 9}
        return await client.send("POST", "/v1/chat/completions", body)

    status, answer = served(forced_gateway([CALL]), visit)
    choice = answer["choices"][0]
    assert (status, answer["object"], choice["finish_reason"]) == (200, "chat.completion", "tool_calls")
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"parcel": "P1"}
    assert answer["usage"]["total_tokens"] == answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]


def test_a_stream_replays_the_message(forced_gateway: Any) -> None:
    async def visit(client: Client) -> str:
        url = f"{client.gateway.base_url}/v1/chat/completions"
        headers = {"Authorization": f"Bearer {client.gateway.token}"}
        body = {"messages": [USER], "stream": True}
        async with client.http.post(url, json=body, headers=headers) as response:
            return await response.text()

    lines = [line[6:] for line in served(forced_gateway(["Here."]), visit).split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    assert json.loads(lines[0])["choices"][0]["delta"]["content"] == "Here."


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{not json", "invalid_json"),
        ([1], "invalid_json"),
        ({}, "invalid_messages"),
        ({"messages": []}, "invalid_messages"),
        ({"messages": ["hi"]}, "invalid_messages"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "invalid_messages"),
        ({"messages": [{"role": "user", "content": 7}]}, "invalid_messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "invalid_messages"),
        ({"messages": [{"role": "assistant", "tool_calls": 5}]}, "invalid_messages"),
        ({"messages": [USER], "tools": "x"}, "invalid_tools"),
        ({"messages": [USER], "tools": [{"type": "function"}]}, "invalid_tools"),
        ({"messages": [USER], "max_tokens": -1}, "invalid_request"),
        ({"messages": [USER], "max_completion_tokens": None, "max_tokens": -1}, "invalid_request"),
        ({"messages": [{"role": "user", "content": "a " * 2000}]}, "context_length_exceeded"),
    ],
)
def test_a_bad_request_is_named(tiny_gateway: Gateway, body: Any, code: str) -> None:
    status, answer = served(tiny_gateway, lambda client: client.send("POST", "/v1/chat/completions", body))
    assert (status, answer["error"]["code"]) == (400, code)


def test_tokens_open_only_what_is_theirs(tiny_gateway: Gateway) -> None:
    async def visit(client: Client) -> list[int]:
        _, one = await client.send("POST", "/sessions", {})
        _, two = await client.send("POST", "/sessions", {})
        asked = [
            ("GET", "/v1/models", "wrong"),
            ("GET", f"/sessions/{one['id']}/v1/models", two["api_key"]),
            ("POST", "/sessions", one["api_key"]),
            ("GET", f"/sessions/{one['id']}/v1/models", one["api_key"]),
            ("GET", "/sessions/none/trace", tiny_gateway.token),
            ("GET", "/nowhere", tiny_gateway.token),
        ]
        return [(await client.send(method, path, None, token))[0] for method, path, token in asked]

    assert served(tiny_gateway, visit) == [401, 401, 401, 200, 404, 404]


def test_a_page_in_a_browser_is_refused_whatever_token_it_sends(tiny_gateway: Gateway) -> None:
    async def visit(_: Client) -> list[int]:
        bearer = {"Authorization": f"Bearer {tiny_gateway.token}"}
        named = [{}, {"Host": "rebound.test"}, {"Origin": "http://evil.test"}, {"Host": "127.0.0.1.evil.test"}]
        async with aiohttp.ClientSession() as session:
            answers = [
                await session.get(f"{tiny_gateway.base_url}/v1/models", headers={**bearer, **more}) for more in named
            ]
        return [answer.status for answer in answers]

    assert served(tiny_gateway, visit) == [200, 403, 403, 403]


def test_the_seed_decides_the_answer(tiny_gateway: Gateway) -> None:
    async def visit(client: Client) -> list[Any]:
        answers = []
        for seed in ("a", "a", "b"):
            _, opened = await client.send("POST", "/sessions", {"seed": seed})
            reply = await client.complete(opened["id"], [USER])
            answers.append(reply["content"])
        return answers

    first, same, other = served(tiny_gateway, visit)
    assert first == same != other


def test_a_preview_shows_what_the_model_sees(tiny_gateway: Gateway) -> None:
    body = {"messages": [SYSTEM, USER], "tools": TOOLS_JSON}
    _, answer = served(tiny_gateway, lambda client: client.send("POST", "/preview", body))
    assert answer["text"].endswith("<|im_start|>assistant\n")
    assert len(answer["ids"]) == len(answer["mask"])


def test_a_client_without_a_session_chooses_its_own_sampling(tiny_gateway: Gateway) -> None:
    async def visit(client: Client) -> Any:
        body = {"messages": [SYSTEM, USER], "max_tokens": 6}
        greedy = [(await client.send("POST", "/v1/chat/completions", body | {"temperature": 0}))[1] for _ in range(2)]
        drawn = [(await client.send("POST", "/v1/chat/completions", body | {"temperature": 5}))[1] for _ in range(2)]
        wrong = await client.send("POST", "/v1/chat/completions", body | {"temperature": "warm"})
        return greedy, drawn, wrong

    greedy, drawn, (status, refused) = served(tiny_gateway, visit)
    said = [[answer["choices"][0]["message"]["content"] for answer in answers] for answers in (greedy, drawn)]
    assert said[0][0] == said[0][1]
    assert said[1][0] != said[1][1]
    assert (status, refused["error"]["message"]) == (400, "temperature must be a number from 0 to 10")


def test_a_port_that_another_program_has_is_one_message(forced_gateway: Any) -> None:
    async def both() -> None:
        async with forced_gateway([]).serving() as first:
            port = int(first.base_url.rpartition(":")[2])
            with pytest.raises(
                ConfigurationError, match=rf"--port {port}: another program listens there; choose another"
            ):
                async with forced_gateway([]).serving(port):
                    pass

    asyncio.run(both())
