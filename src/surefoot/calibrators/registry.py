"""Every calibrator: by the name of its kind, as on the command line, and by that of its class, as in saved files."""

from __future__ import annotations

from dataclasses import fields
from os import PathLike
from typing import Any

import numpy as np

from surefoot._io import documents
from surefoot._io.printable import printable
from surefoot._io.shapes import Flag, Label, ListOf, Malformed, Maybe, Number, OneOf, Record, Shape, Text, Whole
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
    return documents.read(path, "calibrator", SCHEMA, _Fitted(), _unpack, InvalidCalibrator)


#: Fields of maps by their types, and parameters by those of their defaults.
_FIELDS: dict[str, Shape] = {"Floats": ListOf(Number()), "float": Number(), "bool": Flag()}
_PARAMETERS: dict[type, Shape] = {bool: Flag(), float: Number(), str: Text()}


class _Fitted:
    """The shape of a fitted calibrator, which depends on its method."""

    def check(self, value: Any, where: str) -> None:
        Record({"method": OneOf(tuple(METHODS))}).check(value, where)
        kind = METHODS[value["method"]]
        defaults = kind().get_params()
        own = Record({one.name: _FIELDS[str(one.type)] for one in fields(kind._map)})
        shape = Record(
            {
                "parameters": Record({}, {name: _PARAMETERS[type(default)] for name, default in defaults.items()}),
                "classes": ListOf(Label(), least=2),
                "maps": ListOf(own, least=1),
            },
            {
                "support": Maybe(Record({"rows": Whole(1), "overall": Number(0, 1)})),
                "percentages": Flag(),
                "columns": ListOf(Text()),
            },
        )
        shape.check(value, where)
        for part, known in (("parameters", defaults), ("maps", own.fields)):
            for one in [value[part]] if isinstance(value[part], dict) else value[part]:
                if strange := sorted(set(one) - set(known)):
                    raise Malformed(f"{part} have '{printable(strange[0])}', which a {value['method']} has not")


def _value(value: Any) -> Any:
    """A number or numbers as floats, whatever JSON made of them; anything else as it is."""
    if isinstance(value, list):
        return np.array(value, np.float64)
    return float(value) if type(value) is int else value


def _unpack(body: dict[str, Any]) -> Calibrator:
    kind = METHODS[body["method"]]
    found = kind(**{name: _value(x) for name, x in body["parameters"].items()})
    maps = tuple(kind._map(**{name: _value(x) for name, x in own.items()}) for own in body["maps"])
    classes = body["classes"]
    if len({type(label) for label in classes}) != 1 or len(set(classes)) != len(classes):
        raise ValueError("classes are not of one kind, or one occurs twice")
    if len(maps) != found._map_count(len(classes)):
        raise ValueError("classes and maps do not fit together")
    support = body.get("support")
    if found.is_safe and support is None:
        raise ValueError("what its guarantee rests on is missing")
    found.classes_, found.maps_ = np.array(classes), maps
    columns = tuple(body.get("columns", ()))
    if columns and (len(set(columns)) != len(columns) or len(columns) != len(classes)):
        raise ValueError("classes and columns do not fit together")
    found.is_of_percentages, found.columns = body.get("percentages", False), columns
    found.support_ = None if support is None else Support(support["rows"], support["overall"])
    return found
