"""Which files of a folder are its data: what describes a data set is none, and one of several splits must be named."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from surefoot._io.printable import printable
from surefoot.files.finding import Ambiguous

#: Files that describe the data beside them.
_ABOUT = frozenset(
    ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "metadata.json", "config.json")
)
_SHARD = re.compile(r"(?P<split>.+?)-\d{5}-of-\d{5}(?:-[0-9a-f]+)?\.parquet")


def choose_files(name: str, folder: Path, found: Sequence[Path]) -> list[Path]:
    """The files of a folder that hold rows; raise if it is a data set of several splits."""
    data = [path for path in found if path.name not in _ABOUT] or list(found)
    splits = _json(folder / "dataset_dict.json").get("splits")
    if isinstance(splits, list) and len(splits) > 1:
        _refuse(name, [str(split) for split in splits], str(folder / str(splits[-1])))
    shards = [(path, match["split"]) for path in data if (match := _SHARD.fullmatch(path.name))]
    names = sorted({split for _, split in shards})
    if len(names) > 1:
        chosen = next(path for path, split in shards if split == names[0])
        _refuse(name, names, str(chosen.with_name(f"{names[0]}-*.parquet")))
    parents = sorted({path.parent for path, _ in shards})
    if len(parents) > 1 and (folder / "README.md").exists() and not any("=" in str(parent) for parent in parents):
        _refuse(name, [str(parent.relative_to(folder)) for parent in parents], str(parents[0]))
    return [path for path in data if _is_kept(path)]


def _refuse(name: str, splits: list[str], example: str) -> None:
    listed = ", ".join(printable(split) for split in splits)
    raise Ambiguous(f"the folder has several splits ({listed}); choose one, such as '{example}'", file=name)


def _is_kept(path: Path) -> bool:
    """Whether a file is one of those that were saved, not left over from a computation on them."""
    if path.suffix != ".arrow":
        return True
    saved = _json(path.parent / "state.json").get("_data_files")
    if not isinstance(saved, list):
        return True
    return path.name in {one.get("filename") for one in saved if isinstance(one, dict)}


def _json(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}
