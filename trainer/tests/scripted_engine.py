"""A scripted replacement of the engine for tests, which implements the training protocol.

Its domains have two tools and a user with fixed messages. In the domain `parcels` the right call has reward 1. In
`parity` and `parity-long`, which has a longer policy, the trial's parity decides, so that an untrained model also gets
mixed groups. `dead` is always wrong. `falling` is right only in its first four rollouts. `late` is wrong in its first
eight, and afterwards the parity decides. `parity-compacted` replaces the conversation by a summary after each answer of
the model, like agents whose context is full. The tasks `broken-*` fail as infrastructure. In `mumbling` the simulated
user breaks every other rollout. In `late-answers` every fourth one exceeds its time limit, and in `hanging` only after
an alarm of its run. Standard library only.
"""

import json
import pathlib
import sys
import threading
import time
import urllib.error
import urllib.request

SYSTEM = "You run a parcel desk. Look a parcel up, then move it to the day that was asked for, then say: Done."
TOOLS = [
    {
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": keys},
    }
    for name, description, keys in (
        ("find_parcel", "Where a parcel is.", ["parcel"]),
        ("reschedule", "Change the day.", ["parcel", "day"]),
    )
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday"]
OUTPUT = threading.Lock()
TASKS = {  # by domain, train and test; all other domains have the first entry
    "": (["move-0", "move-1", "move-2", "move-3"], ["move-100", "move-101", "move-102", "move-103"]),
    "broken": (["broken-0"], ["broken-1"]),
    "half-broken": (["move-0", "broken-0"], []),
    "overlap": (["move-0", "move-1"], ["move-1"]),
    "one": (["move-0"], []),
}
PLAYED: dict[str, int] = {}


def send(message: dict) -> None:
    with OUTPUT:
        print(json.dumps(message), flush=True)


def wanted(task: str) -> tuple[str, str]:
    number = int(task.rpartition("-")[2])
    return f"P{10 + number}", DAYS[number % len(DAYS)]


def gold_reply(task: str, turn: int) -> dict:
    parcel, day = wanted(task)
    calls = [("find_parcel", {"parcel": parcel}), ("reschedule", {"parcel": parcel, "day": day})]
    if turn >= len(calls):
        return {"content": "Done.", "tool_calls": []}
    name, arguments = calls[turn]
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"id": f"gold-{turn}", "type": "function", "function": function}]}


def looping_reply(task: str, turn: int) -> dict:
    """It looks the parcel up, and again, and never does anything else."""
    return gold_reply(task, 0)


SEATS = {"gold": gold_reply, "looping": looping_reply}


def ask(agent: dict, messages: list) -> dict:
    body = {
        "model": agent["model"],
        "messages": messages,
        "tools": [{"type": "function", "function": tool} for tool in TOOLS],
    }
    request = urllib.request.Request(
        agent["base_url"] + "/chat/completions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {agent['api_key']}"},
    )
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)["choices"][0]["message"]


def call_of(raw: dict) -> dict:
    text = raw["function"]["arguments"]
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = text
    return {
        "id": raw["id"],
        "name": raw["function"]["name"],
        "arguments": arguments if isinstance(arguments, dict) else text,
    }


def failed(who: str, code: str, message: str, recording: "str | None" = None) -> dict:
    failure = {"who": who, "code": code, "message": message}
    return {
        "reward": None,
        "end_reason": f"{who}Failed",
        "turns": 0,
        "metrics": {},
        "recording": recording,
        "failure": failure,
    }


def facts_of(events: list) -> dict:
    calls = [(call["name"], json.dumps(call["arguments"])) for e in events for call in e.get("toolCalls", [])]
    known = [tool["name"] for tool in TOOLS]
    names = [name if name in known else "unknown" for name, _ in calls]
    longest = length = 0
    for at, call in enumerate(calls):
        length = length + 1 if at and call == calls[at - 1] else 1
        longest = max(longest, length)
    return {
        "calls": {name: names.count(name) for name in sorted(set(names))},
        "generic_calls": 0,
        "longest_repeat": longest,
        "handed_off": False,
    }


def play(params: dict) -> dict:
    task, agent = params["task"], params["agent"]
    if task.startswith("broken"):
        return failed("infrastructure", "scripted", "scripted failure")
    if params["domain"] == "mumbling" and params["trial"] % 2:
        return failed("simulator", "simulator/repeats", "the simulated user says the same again", params["recording"])
    if params["domain"] in ("late-answers", "hanging") and params["trial"] % 4 == 3:
        events = pathlib.Path(params["recording"]).parents[2] / "events.jsonl"
        while params["domain"] == "hanging" and '"alarm"' not in events.read_text():
            time.sleep(0.02)
        return failed("infrastructure", "timeout", f"the rollout took longer than {params['timeout_s']} s")
    parcel, day = wanted(task)
    system = SYSTEM + " Be polite, and look twice." * 8 if params["domain"] == "parity-long" else SYSTEM
    events = [{"type": "rolloutStarted", "format": 1, "system": system, "tools": TOOLS, "task": {"id": task}}]
    messages = [{"role": "system", "content": system}]

    def say(text: str) -> None:
        events.append({"type": "userReplied", "content": text, "stop": None})
        messages.append({"role": "user", "content": text})

    say(f"Move {parcel} to {day}, please.")
    written, turn = None, 0
    cap = params.get("turn_cap") or 4
    while turn < cap:
        if params["domain"] == "parity-compacted" and turn:
            messages[1:] = [{"role": "user", "content": f"After {turn} answers, continue with {parcel}."}]
        reply = SEATS[agent](task, turn) if isinstance(agent, str) else ask(agent, messages)
        turn += 1
        messages.append(
            {key: reply[key] for key in ("role", "content", "tool_calls", "rehearsal_id") if key in reply}
            | {"role": "assistant"}
        )
        calls = [call_of(raw) for raw in reply.get("tool_calls") or []]
        events.append({"type": "agentReplied", "content": reply["content"], "toolCalls": calls})
        for call in calls:
            right = isinstance(call["arguments"], dict) and set(call["arguments"]) == {"parcel", "day"}
            if call["name"] == "reschedule" and right:
                written, content, error = call["arguments"], "ok", False
            elif call["name"] == "find_parcel":
                content, error = '{"status":"on the way"}', False
            else:
                content, error = "Error: no such call", True
            events.append({"type": "toolReturned", "callId": call["id"], "content": content, "isError": error})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        if not calls:
            if written is not None or turn >= 2:
                break
            say("Go on.")
    reward = float(written == {"parcel": parcel, "day": day})
    if params["domain"].startswith("parity") or params["domain"] in ("mumbling", "late-answers", "hanging"):
        reward = float(params["trial"] // 2 % 2 if params["domain"] == "mumbling" else params["trial"] % 2)
    with OUTPUT:
        played = PLAYED[params["domain"]] = PLAYED.get(params["domain"], 0) + 1
    if params["domain"] in ("dead", "falling"):
        reward = float(params["domain"] == "falling" and played <= 4)
    if params["domain"] == "late":
        reward = float(played > 8 and params["trial"] % 2)
    events.append({"type": "rewarded", "basis": params["basis"], "reward": reward, "reason": "scripted"})
    if params.get("recording"):
        path = pathlib.Path(params["recording"])
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"n": n, "event": event, "state": "", "chain": ""}) for n, event in enumerate(events)]
        path.write_text("\n".join(lines) + "\n")
    return {
        "reward": reward,
        "end_reason": "userStopped" if turn < cap else "turnCap",
        "turns": turn,
        "metrics": {"toolCalls": sum(len(e.get("toolCalls", [])) for e in events)},
        **facts_of(events),
        "completion": float(written is not None),
        "recording": params.get("recording"),
        "failure": None,
    }


def answer(request: dict) -> None:
    identity, method, params = request["id"], request["method"], request["params"]
    try:
        if method == "hello":
            send({"id": identity, "result": {"protocol": 1, "engine": "scripted"}})
        elif method == "tasks":
            names = TASKS.get(params["domain"], TASKS[""])[params.get("split") != "train"]
            send({"id": identity, "result": [{"id": name, "split": params.get("split")} for name in names]})
        elif method == "rollout":
            send({"id": identity, "result": play(params)})
        elif method == "cancel":
            send({"id": identity, "result": {"cancelled": False}})
        else:
            send({"id": identity, "error": {"code": "unknown-method", "message": method}})
    except urllib.error.HTTPError as error:
        send({"id": identity, "result": failed("infrastructure", "model/error", error.read().decode())})


if __name__ == "__main__":
    send({"method": "log", "params": {"level": "info", "message": "scripted engine"}})
    for line in sys.stdin:
        threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
