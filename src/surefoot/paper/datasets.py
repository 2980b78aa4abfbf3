"""The paper's fifteen data sets: found in a folder, or downloaded from OpenML, or named as missing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InvalidPredictions, MissingPackage


class MissingData(InvalidPredictions):
    """A data set that is neither in the folder nor to be had from OpenML."""


@dataclass(frozen=True)
class OfficialTest:
    """How the official test part is known in a download that has all rows in one: it lies at one of the ends."""

    rows: int
    #: The column, and what its first ten rows of the test part hold.
    column: str
    first: tuple[int, ...]


_TESTS = {
    "adult_income": OfficialTest(16_281, "age", (25, 38, 28, 44, 18, 34, 29, 63, 24, 55)),
    "cifar10": OfficialTest(10_000, "label", (3, 8, 8, 0, 6, 6, 1, 6, 3, 1)),
    "mnist": OfficialTest(10_000, "label", (7, 2, 1, 0, 4, 1, 4, 9, 5, 9)),
}


@dataclass(frozen=True)
class DataSet:
    """Where a data set lies, which column is its target, and what the protocol does to it."""

    name: str
    target: str
    #: The file in a data folder; its name by default.
    file: str = ""
    #: Columns that are no features.
    dropped: tuple[str, ...] = ()
    #: The column of lists that holds all features, for images.
    pixels: str = ""
    #: Whether a column named split says which rows are the official test.
    is_split: bool = False
    #: Whether rows with a question mark anywhere are left out.
    drops_unknown: bool = False
    #: A number that stands for a value that is not there.
    missing: float | None = None
    #: The number of the data set at OpenML, its MD5 there being checked by scikit-learn; None if there is none we know.
    openml: int | None = None
    #: What has to be said about it.
    note: str = ""

    @property
    def path(self) -> str:
        return f"{self.file or self.name}.parquet"


SETS = {
    one.name: one
    for one in (
        DataSet("accelerometer", "Activity", dropped=("timestamp",), note="without its time stamps"),
        DataSet("adult_income", "income", is_split=True, drops_unknown=True, openml=1590, note="rows with ? left out"),
        DataSet("bank_marketing", "y", file="bank_marketing_additional", note="bank-additional-full"),
        DataSet("breast_cancer", "target", openml=1510),
        DataSet("cifar10", "label", pixels="pixels", is_split=True, openml=40927,
                note="parameters set by hand, few rows and rounds"),
        DataSet("covertype", "Cover_Type", openml=1596, note="few rows and rounds"),
        DataSet("credit", "default.payment.next.month", dropped=("ID",), openml=42477),
        DataSet("diabetes", "Outcome", openml=37),
        DataSet("higgs_boson", "Label", file="higgs_boson_first9999", dropped=("EventId", "Weight"), missing=-999.0,
                note="a subset: the first 9,999 of 250,000 rows"),
        DataSet("liver", "Dataset", openml=1480),
        DataSet("mnist", "label", pixels="pixels", is_split=True, openml=554,
                note="parameters set by hand, few rows and rounds"),
        DataSet("naticusdroid", "Result"),
        DataSet("obesity", "NObeyesdad"),
        DataSet("phishing", "Result", openml=4534),
        DataSet("wine", "quality", dropped=("color",), note="not calibrated, as in the paper: classes of five rows"),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Samples:
    """Features as numbers (text by ordinal codes, missing as nan), classes as codes, and the official test rows."""

    features: npt.NDArray[np.float32]
    classes: npt.NDArray[np.int64]
    labels: tuple[Any, ...]
    is_test: npt.NDArray[np.bool_] | None


def folder_of(given: str | os.PathLike[str] | None) -> Path | None:
    """The data folder, which has to be there: as given, or by the environment variable SUREFOOT_DATA."""
    chosen = given or os.environ.get("SUREFOOT_DATA")
    if chosen and not Path(chosen).is_dir():
        # else every set would be downloaded, as if no folder had been named
        raise MissingData(f"there is no data folder {chosen}; name another with --data or SUREFOOT_DATA, or none")
    return Path(chosen) if chosen else None


def load(name: str, folder: Path | None, *, download: bool = True) -> Samples:
    """A data set by name."""
    one = SETS[name]
    if folder is not None and (folder / one.path).exists():
        return _prepare(one, _read(folder / one.path))
    where = f"looked for {one.path} in {folder}" if folder else "no data folder was named"
    if one.openml is not None and download:
        return _prepare(one, _download(one, where))
    way = f"; OpenML has it as number {one.openml}" if one.openml else "; we know of no copy at OpenML"
    raise MissingData(f"data set {name} is missing: {where}{way}. Name a folder with --data or SUREFOOT_DATA")


def _read(path: Path) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise MissingData(f"{path}: damaged ({str(error).splitlines()[0]}); fetch it again") from error
    found: dict[str, Any] = {}
    for column in table.column_names:
        values = table.column(column).combine_chunks()
        if pa.types.is_fixed_size_list(values.type) or pa.types.is_list(values.type):
            found[column] = np.asarray(values.flatten()).reshape(len(values), -1)
        else:
            found[column] = np.array(values.to_pylist(), dtype=object)
    return found


def _download(one: DataSet, where: str) -> dict[str, Any]:
    """By scikit-learn, which checks the MD5 that OpenML states, and keeps what it fetched in its cache."""
    try:
        from sklearn.datasets import fetch_openml
    except ImportError as error:
        raise MissingPackage("downloads need scikit-learn: pip install 'surefoot[paper]'.") from error
    try:
        bunch = fetch_openml(data_id=one.openml, as_frame=True, parser="auto")
    except Exception as error:  # URLError, HTTPError, OpenMLError, ...: whatever the network is up to
        raise MissingData(
            f"data set {one.name} is missing: {where}; OpenML could not be reached ({type(error).__name__}). Name a "
            "folder with --data or SUREFOOT_DATA"
        ) from error
    frame = bunch.frame
    found = {column: np.array(frame[column].tolist(), dtype=object) for column in frame.columns}
    found[one.target] = np.array(bunch.target.tolist(), dtype=object)
    if bunch.target.name != one.target:
        found.pop(bunch.target.name, None)
    if one.is_split:
        found["split"] = _official_split(one, found)
    return found


def _official_split(one: DataSet, columns: dict[str, Any]) -> npt.NDArray[Any]:
    """Which rows of a download are the official test, told by its first ten rows."""
    test = _TESTS[one.name]
    values = columns[test.column]
    split = np.full(len(values), "train", dtype=object)
    for part in (slice(0, test.rows), slice(len(values) - test.rows, len(values))):
        start = values[part][: len(test.first)]
        if [_whole(value) for value in start] == list(test.first):
            split[part] = "test"
            return split
    raise MissingData(
        f"data set {one.name} of OpenML is not in the order in which we know its official test part; name a folder "
        f"that holds {one.path}, with a column named split, with --data or SUREFOOT_DATA"
    )


def _whole(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def _prepare(one: DataSet, columns: dict[str, Any]) -> Samples:
    if one.target not in columns:
        raise MissingData(f"data set {one.name} has no column {one.target!r}; is it the one that is meant?")
    split = columns.pop("split", None)
    target = columns.pop(one.target)
    features = [columns[one.pixels]] if one.pixels and one.pixels in columns else None
    if features is None:
        kept = [values for column, values in columns.items() if column not in one.dropped]
        known = np.ones(len(target), dtype=bool)
        if one.drops_unknown:
            # a question mark in the file, nothing at OpenML
            known = ~np.any([[value in ("?", None) or value != value for value in values] for values in kept], axis=0)
        features = [_encode(values[known])[:, None] for values in kept]
        target, split = target[known], None if split is None else split[known]
    table = np.concatenate([part.astype(np.float32) for part in features], axis=1)
    if one.missing is not None:
        table[table == one.missing] = np.nan
    # the official test of Adult writes its labels with a dot
    plain = np.array([value.strip().rstrip(".") if isinstance(value, str) else value for value in target], dtype=object)
    labels = tuple(sorted(set(plain.tolist())))
    codes = np.array([labels.index(value) for value in plain.tolist()], dtype=np.int64)
    return Samples(table, codes, labels, None if split is None or not one.is_split else split == "test")


def _encode(values: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Numbers as they are; text by its place among the sorted values; nothing as nan."""
    if any(isinstance(value, str) for value in values):
        known: Sequence[str] = sorted({value for value in values if isinstance(value, str)})
        place = {value: i for i, value in enumerate(known)}
        return np.array([place.get(value, np.nan) for value in values], dtype=np.float32)
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float32)
