"""Logs of Inspect AI: a zip of JSON (.eval), or one JSON document; a row for each sample and epoch."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from surefoot._io.printable import printable
from surefoot.files.columns import Columns, plain
from surefoot.files.finding import speaks
from surefoot.files.json_lines import as_text
from surefoot.files.log import Log, names_of
from surefoot.files.source import BadFile
from surefoot.files.zipped import Archive

#: A sample in one piece, or the part of a sample in several that holds its scores.
_SAMPLE = re.compile(r"samples/.+_epoch_\d+(?:\.json|/sample\.json)")
_CONFIDENCE = names_of("confidence")
#: Columns of a score that are told before all others.
_FIELDS = ("value", "confidence", "answer")
#: Samples of which it is looked up whether answers state confidences.
_LOOKED_AT = 20
#: Characters of questions and answers that are kept to be shown.
_MOST = 400


def is_inspect(document: Any) -> bool:
    """Whether a JSON document is such a log."""
    return isinstance(document, dict) and isinstance(document.get("eval"), dict) and "status" in document


def log_of_archive(name: str, archive: Archive) -> Log:
    """The log in a zip. Its summaries hold all that is needed if scores come with numbers; else samples are read.

    They are also read if answers state confidences: which were filled in for others only the answers tell.
    """
    names = archive.names()
    header = archive.json("header.json" if "header.json" in names else "_journal/start.json")
    if not isinstance(header, dict):
        raise BadFile("no log of Inspect AI: its header is no object", file=name)
    samples = [entry for entry in names if _SAMPLE.fullmatch(entry)]
    summaries = archive.json("summaries.json") if "summaries.json" in names else None
    if isinstance(summaries, list):
        scored = [one for one in summaries if isinstance(one, dict) and one.get("scores")]
        is_told = all(any(_in_score(score) is not None for score in _scores(one).values()) for one in scored)
        some = (archive.json(entry) for entry in samples[:: 1 + len(samples) // _LOOKED_AT])
        if scored and is_told and not any(speaks([_response(one)]) for one in some if isinstance(one, dict)):
            return _log(name, header, lambda: iter(summaries))
    if not samples:
        raise BadFile("a log of Inspect AI without samples: it was made without, or is not finished", file=name)
    return _log(name, header, lambda: (archive.json(entry) for entry in samples))


def log_of_document(name: str, document: Mapping[str, Any]) -> Log:
    """The log in a JSON document."""
    samples = document.get("samples")
    if not isinstance(samples, list) or not samples:
        raise BadFile("a log of Inspect AI without samples: it was made without, or is not finished", file=name)
    return _log(name, document, lambda: iter(samples))


def is_archive(names: Iterable[str]) -> bool:
    """Whether the entries of a zip are those of such a log."""
    return bool({"header.json", "_journal/start.json"} & {*names})


def _log(name: str, header: Mapping[str, Any], samples: Any) -> Log:
    about: Mapping[str, Any] = header["eval"] if isinstance(header.get("eval"), dict) else {}
    task, model = (str(about.get(key) or "") for key in ("task", "model"))
    config = about.get("config")
    epochs = config.get("epochs") if isinstance(config, dict) else None
    return Log(
        name,
        lambda: _rows(name, task, model, samples()),
        choose=_choose,
        repeats="question",
        is_repeated=isinstance(epochs, int) and epochs > 1,
    )


def _rows(name: str, task: str, model: str, samples: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for number, sample in enumerate(samples):
        if not isinstance(sample, dict):
            raise BadFile("a sample is no JSON object", row=number, file=name)
        row: dict[str, Any] = {"id": str(sample.get("id")), "epoch": sample.get("epoch"), "task": task, "model": model}
        row["question"] = f"{task} {sample.get('id')}"
        row |= {"input": _text(sample.get("input")), "target": _text(sample.get("target"))}
        row["response"] = _response(sample)
        for scorer, score in _scores(sample).items():
            row |= _score_columns(f"scores.{scorer}.", score)
        metadata = sample.get("metadata")
        for key, value in (metadata if isinstance(metadata, dict) else {}).items():
            if isinstance(value, str | int | float | bool):
                row.setdefault(f"metadata.{key}", value)
        yield row


def _response(sample: Mapping[str, Any]) -> str | None:
    """What the model answered; of a sample without its output what a scorer read from it."""
    output = sample.get("output")
    completion = output.get("completion") if isinstance(output, dict) else None
    read = (score["answer"] for score in _scores(sample).values() if isinstance(score.get("answer"), str))
    return completion if isinstance(completion, str) and completion else next(read, None)


def _score_columns(prefix: str, score: Mapping[str, Any]) -> dict[str, Any]:
    """The outcome of a score, its confidence and its answer if it has them, and what else it holds by name."""
    value, metadata = score.get("value"), score.get("metadata")
    found: dict[str, Any] = {f"{prefix}value": _outcome(value)}
    confidence = _in_score(score)
    if confidence is not None:
        found[f"{prefix}confidence"] = confidence
    if isinstance(score.get("answer"), str):
        found[f"{prefix}answer"] = score["answer"]
    for place in (value, metadata):
        for key, one in (place if isinstance(place, dict) else {}).items():
            if key not in _FIELDS and isinstance(one, int | float | str) and len(str(one)) <= _MOST:
                found.setdefault(f"{prefix}{key}", one)
    return found


def _choose(name: str, rows: list[dict[str, Any]], given: Mapping[str, Any]) -> Columns | str:
    """The outcome and the confidence: of the scorer that was named, else of the only one (with confidences).

    A confidence that a scorer wrote down counts before one that is stated in the answer. What is unclear is told.
    """
    keys = {key for row in rows for key, value in row.items() if value is not None}
    scorers = list(dict.fromkeys(key[7:-6] for row in rows for key in row if re.fullmatch(r"scores\..+\.value", key)))
    if not scorers:
        return "no sample has a score; was the log scored?"
    sure = [one for one in scorers if f"scores.{one}.confidence" in keys]
    claim, correct = given.get("confidence", given.get("doubt")), given.get("correct")
    if correct is None:
        own = [one for one in scorers if str(claim).startswith(f"scores.{one}.")]
        chosen = own or (sure if claim is None and sure else scorers)
        if len(chosen) > 1:
            have = "several scorers have confidences" if claim is None and sure else "the log has several scorers"
            return f"{have} ({_listed(chosen)}); choose one with --correct {_option(f'scores.{chosen[0]}.value')}"
        correct = f"scores.{chosen[0]}.value"
        if correct not in keys:
            told = {correct[:-5] + field for field in _FIELDS}
            fields = sorted(key for key in keys - told if key.startswith(correct[:-5]))
            listed = f"; choose a field with --correct: {_listed(fields)}" if fields else ""
            return f"the values of '{printable(chosen[0])}' are not C, I, P, N, yes, no or numbers{listed}"
    if claim is None:
        scorer = next((one for one in scorers if str(correct).startswith(f"scores.{one}.")), None)
        sure = [scorer] if scorer in sure else sure
        if len(sure) > 1:
            option = _option(f"scores.{sure[0]}.confidence")
            return f"several scorers have confidences ({_listed(sure)}); choose one with --confidence {option}"
        claim = f"scores.{sure[0]}.confidence" if sure else _stated_in(rows, keys, scorer)
        if claim is None:
            numbers = sorted({key for row in rows for key, one in row.items() if "." in key and isinstance(one, float)})
            listed = f"; columns of fractions are {_listed(numbers)}" if numbers else ""
            return (
                f"no confidence was found in the metadata, value or answer of a score (scorers: {_listed(scorers)}); "
                f"name the column that holds it with --confidence{listed}"
            )
        return Columns(**{**given, "correct": correct, "confidence": claim})
    return Columns(**{**given, "correct": correct})


def _stated_in(rows: list[dict[str, Any]], keys: Iterable[str], scorer: str | None) -> str | None:
    """The metadata that hold a confidence, or the answers that state one."""
    fields = sorted(key for key in keys if key.startswith("metadata.") and plain(key[9:]) in _CONFIDENCE)
    for column in (*fields[:1], "response", f"scores.{scorer}.answer"):
        if column in fields or speaks([row[column] for row in rows if row.get(column)]):
            return column
    return None


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{printable(one)}'" for one in names[:6])


def _option(column: str) -> str:
    return f"'{printable(column)}'"


def _scores(sample: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    scores = sample.get("scores")
    found = scores if isinstance(scores, dict) else {}
    if not found and isinstance(sample.get("score"), dict):
        found = {"score": sample["score"]}
    return {str(scorer): score for scorer, score in found.items() if isinstance(score, dict)}


def _in_score(score: Mapping[str, Any]) -> Any:
    """The confidence in the metadata of a score, or in its value if that is an object; of several the plainest name."""
    for place in (score.get("metadata"), score.get("value")):
        named = {plain(str(key)): value for key, value in (place if isinstance(place, dict) else {}).items()}
        for name in _CONFIDENCE:
            value = named.get(name)
            if isinstance(value, str | int | float) and not isinstance(value, bool):
                return value
    return None


def _outcome(value: Any) -> str | None:
    """C, I, P and N, words and numbers, as text; of an object what it says of correctness."""
    if isinstance(value, dict):
        value = next((one for key, one in value.items() if plain(str(key)) in names_of("correct")), None)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(int(value)) if value in (0, 1) else as_text(value)
    return value if isinstance(value, str) else None


def _text(value: Any) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


def open_archive(name: str, data: Any) -> Log:
    """The log in a file that should be one."""
    try:
        archive = Archive(name, data)
    except zipfile.BadZipFile as error:
        raise BadFile(f"no log of Inspect AI, or a damaged one ({printable(str(error))})", file=name) from error
    if not is_archive(archive.names()):
        raise BadFile("a zip, but no log of Inspect AI: it has no header", file=name)
    return log_of_archive(name, archive)
