"""Every calibrator: by the name of its kind, as on the command line, and by that of its class, as in saved files."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from surefoot._io import documents
from surefoot.calibrators.beta import Beta
from surefoot.calibrators.calibrator import SCHEMA, Calibrator, Support
from surefoot.calibrators.deflation import Deflation
from surefoot.calibrators.isotonic import Isotonic
from surefoot.calibrators.platt import Platt
from surefoot.calibrators.safe_bins import SafeBins
from surefoot.calibrators.safe_platt import SafePlatt
from surefoot.calibrators.temperature import Temperature
from surefoot.calibrators.venn_abers import VennAbers
from surefoot.errors import InvalidCalibrator

#: Every calibrator and its kinds, not fitted.
NAMED: dict[str, Calibrator] = {
    "isotonic": Isotonic(),
    "platt": Platt(),
    "temperature": Temperature(),
    "beta": Beta(),
    "venn_abers": VennAbers(),
    "venn_abers_pessimistic": VennAbers("pessimistic"),
    "venn_abers_pooled": VennAbers("pooled"),
    "deflation_likelihood": Deflation("maximum_likelihood"),
    "deflation_safe": Deflation(),
    "deflation_pac": Deflation("pac"),
    "safe_platt": SafePlatt(),
    "safe_bins": SafeBins(),
}
METHODS: dict[str, type[Calibrator]] = {type(one).__name__: type(one) for one in NAMED.values()}


def new_calibrator(name: str, *, from_logits: bool = False) -> Calibrator:
    """A calibrator of a name, not fitted."""
    return NAMED[name].unfitted(from_logits=from_logits)


def load(path: str | PathLike[str]) -> Calibrator:
    """Read a calibrator that :meth:`Calibrator.save` wrote.

    Parameters
    ----------
    path : str or path-like
        The file to read.

    Returns
    -------
    Calibrator
        The fitted calibrator.

    Raises
    ------
    InvalidCalibrator
        If the file is damaged, is not a calibrator, or was written by a newer version.

    Examples
    --------
    >>> import tempfile
    >>> fitted = Platt().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fitted.save(f"{folder}/platt.json")
    ...     load(f"{folder}/platt.json")
    Platt(top_label=False, from_logits=False)
    """
    return documents.read(path, "calibrator", SCHEMA, _unpack, InvalidCalibrator)


def _unpack(body: dict[str, Any]) -> Calibrator:
    kind = METHODS.get(body["method"])
    if kind is None:
        raise ValueError(f"there is no calibrator {body['method']!r}")
    found = kind(**body["parameters"])
    maps = tuple(
        kind._map(
            **{
                name: np.array(value, dtype=np.float64) if isinstance(value, list) else value
                for name, value in own.items()
            }
        )
        for own in body["maps"]
    )
    classes = body["classes"]
    if not isinstance(classes, list) or len(set(map(repr, classes))) < 2 or len(maps) != found._map_count(len(classes)):
        raise ValueError("classes and maps do not fit together")
    found.classes_, found.maps_ = np.array(classes), maps
    support = body.get("support")
    found.support_ = None if support is None else Support(**support)
    return found
