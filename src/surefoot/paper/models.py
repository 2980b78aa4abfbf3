"""Every model on every split, trained once and kept as what it says of each row."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot._io.writing import write_whole
from surefoot.paper.datasets import Samples, load
from surefoot.paper.protocol import CAPPED, FIRST, FIXED, ROWS, Budget, Protocol, most_rounds
from surefoot.paper.search import MissingSetting, Search, Setting, stored_setting
from surefoot.paper.training import Model, split, train

Report = Callable[[str], None]
Classes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Trained:
    """A model of a split, the true classes of the rows it speaks of, and the parameters it was trained by."""

    model: Model
    fit: Classes
    truth: Classes
    setting: Setting
    #: Rows that the model was trained on, and whether its parameters were searched for on this very split.
    train: int
    is_of_split: bool


class Trainer:
    """Trains the models of one data set, or takes them from the folder; the set is read when it is first needed."""

    def __init__(
        self,
        name: str,
        folder: Path,
        data_folder: Path | None,
        budget: Budget,
        *,
        use_stored: bool,
        download: bool = True,
        report: Report = lambda words: None,
    ) -> None:
        self.name, self.folder, self.budget, self.report = name, folder, budget, report
        self.use_stored = use_stored
        self._where, self._download = data_folder, download
        self._data: Samples | None = None

    def data(self) -> Samples:
        """The data set."""
        if self._data is None:
            self._data = load(self.name, self._where, download=self._download)
        return self._data

    def trained(self, protocol: Protocol, seed: int) -> Trained:
        """The model of a split."""
        setting = self.setting(protocol, seed)
        path = self.folder / f"model-{self.name}-{protocol.name}-{seed}.npz"
        limits = [most_rounds(self.name), ROWS.get(self.name)]
        facts = json.dumps([asdict(setting), asdict(protocol), limits]).replace("NaN", "null")
        serves_all = self._serves_all(protocol)
        kept = _read(path, facts, setting, is_of_split=not serves_all)
        if kept is None:
            self.report(f"{self.name}: split {seed}, {protocol.name}")
            data = self.data()
            parts = split(data, seed).fewer(data, ROWS.get(self.name), seed)
            model = train(
                data,
                parts,
                setting.parameters,
                rounds=most_rounds(self.name) if protocol.stops_early else setting.rounds,
                stops_early=protocol.stops_early,
                is_weighted=protocol.is_weighted,
            )
            fit, truth = data.classes[parts.calibration], data.classes[parts.test]
            kept = Trained(model, fit, truth, setting, len(parts.train), not serves_all)
            _write(path, facts, kept)
        return kept

    def _serves_all(self, protocol: Protocol) -> bool:
        """Whether one setting serves every split."""
        return not protocol.searches_each or self.name in FIXED or self.name in CAPPED

    def setting(self, protocol: Protocol, seed: int) -> Setting:
        """Parameters: those that come along, or those that a search finds."""
        serves_all = self._serves_all(protocol)
        found = None
        if self.use_stored or self.name in FIXED or serves_all:
            found = stored_setting(self.name, is_weighted=protocol.is_weighted, seed=None if serves_all else seed)
        if found is not None:
            return found
        if self.use_stored:
            raise MissingSetting(
                f"no parameters of split {seed} of {self.name} come along; leave out --tuned to search"
            )
        trials, folds = self.budget.trials_of(self.name), self.budget.folds
        where = FIRST if serves_all else seed
        search = Search(self.name, self.data(), self.folder, seed=where, folds=folds, is_weighted=protocol.is_weighted)
        return search.run(trials, lambda done: self.report(f"{self.name}: split {where}, trial {done} of {trials}"))


def _read(path: Path, facts: str, setting: Setting, *, is_of_split: bool) -> Trained | None:
    """What an earlier run trained by the same parameters; None if there is none."""
    try:
        with np.load(path, allow_pickle=False) as kept:
            if str(kept["facts"]) != facts:
                return None
            model = Model(kept["calibration"], kept["test"], int(kept["rounds"]))
            return Trained(model, kept["fit"], kept["truth"], setting, int(kept["train"]), is_of_split)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def _write(path: Path, facts: str, made: Trained) -> None:
    packed = io.BytesIO()
    arrays: dict[str, Any] = {"calibration": made.model.calibration, "test": made.model.test}
    arrays |= {"rounds": made.model.rounds, "train": made.train, "fit": made.fit, "truth": made.truth}
    np.savez_compressed(packed, facts=facts, **arrays)
    write_whole(path, packed.getvalue())
