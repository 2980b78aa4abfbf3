"""What an evaluation wrote down about one answer, as a flat row: nested values, judgements, replies of an API."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from surefoot.files.reasons import DEFAULTED, WHY
from surefoot.files.stated import stated

#: What the answer of a model is called beside a judgement of it.
_ANSWERS = (
    *("response", "model_response", "model_output", "model_answer", "output", "completion", "generation", "reply"),
    "answer",
)
_FENCED = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```", re.S)
#: Objects within objects that become columns, and what is written of a text in them.
_DEPTH = 3


def record(row: dict[str, Any]) -> dict[str, Any]:
    """An object of a log as a row of columns.

    Values within objects get names such as judge.confidence. Of a reply of a chat API the answer is taken, and its
    values if it is JSON. A judge is told to put 100 where an answer states no confidence: such a row is marked.

    Examples
    --------
    >>> record({"id": 1, "judge": {"correct": "yes", "confidence": 85}})
    {'id': 1, 'judge.correct': 'yes', 'judge.confidence': 85}
    >>> judged = {"correct": "no", "confidence": 100}
    >>> record({"response": "It is Paris.", "judge_response": judged})["why missing"]
    'a confidence that was filled in for them'
    """
    if not any(isinstance(value, dict | list) for value in row.values()):
        return row
    if "custom_id" in row or "choices" in row:
        row = _of_chat(row)
    row = _with_log_probabilities(row)
    found = flat(row)
    for name, value in row.items():
        if isinstance(value, dict) and "correct" in value and value.get("confidence") in (100, "100", "100%", 1.0):
            answer = next((row[key] for key in _ANSWERS if isinstance(row.get(key), str)), None)
            if answer is not None and stated(answer) is None:
                found[WHY] = DEFAULTED
                found.setdefault(f"{name}.confidence", value["confidence"])
    return found


def flat(row: Mapping[str, Any], depth: int = _DEPTH) -> dict[str, Any]:
    """The values of an object and of those within it, by names with dots."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict) and depth:
            found |= {f"{name}.{inner}": one for inner, one in flat(value, depth - 1).items()}
        else:
            found[name] = value
    return found


def _of_chat(row: dict[str, Any]) -> dict[str, Any]:
    """A line of a batch output, or a reply as it was saved."""
    reply = row.get("response") if isinstance(row.get("response"), dict) else row
    body = reply.get("body") if isinstance(reply, dict) and isinstance(reply.get("body"), dict) else reply
    rest = {name: value for name, value in row.items() if name not in ("response", "choices", "usage", "error", "id")}
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else choice.get("text")
    if text is None and isinstance(body, dict):
        text = _of_items(body.get("output"))
    found: dict[str, Any] = {"id": row.get("custom_id", row.get("id")), **rest}
    if isinstance(body, dict) and isinstance(body.get("model"), str):
        found["model"] = body["model"]
    found["response"] = text if isinstance(text, str) else None
    if choice.get("logprobs") is not None:
        found["logprobs"] = choice["logprobs"]
    if isinstance(text, str):
        found |= {name: value for name, value in _json_in(text).items() if name not in found}
    return found


def _of_items(output: Any) -> str | None:
    """The text of a reply that is a list of items, of which some are messages in parts."""
    items = output if isinstance(output, list) else []
    messages = [item.get("content") for item in items if isinstance(item, dict) and item.get("type") == "message"]
    parts = [part for content in messages if isinstance(content, list) for part in content if isinstance(part, dict)]
    texts = [part["text"] for part in parts if part.get("type") == "output_text" and isinstance(part.get("text"), str)]
    return "".join(texts) or None


def _json_in(text: str) -> dict[str, Any]:
    """The values of an answer that is JSON, also within a fence."""
    fenced = _FENCED.search(text)
    try:
        inner = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return {}
    return flat(inner) if isinstance(inner, dict) else {}


def _with_log_probabilities(row: dict[str, Any]) -> dict[str, Any]:
    """The row with the sum and the mean of its tokens' log-probabilities, if it lists them."""
    for name in ("logprobs", "token_logprobs"):
        tokens = _tokens(row.get(name))
        if tokens:
            row = {key: value for key, value in row.items() if key != name}
            total = math.fsum(tokens)
            return {**row, "logprob_sum": total, "logprob_mean": total / len(tokens)}
    return row


def _tokens(value: Any) -> list[float]:
    """The log-probabilities of tokens, in the ways in which they are written."""
    if isinstance(value, dict):
        value = value.get("content") or value.get("token_logprobs")
    if not isinstance(value, list):
        return []
    numbers = [one.get("logprob") if isinstance(one, dict) else one for one in value]
    # the first token of a prompt has none
    known = [one for one in numbers if one is not None]
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and one <= 0 for one in known):
        return []
    # none is so small, and sums of smaller ones are no floats
    if any(-math.inf < one < -1e300 for one in known):
        return []
    return [float(one) for one in known]
