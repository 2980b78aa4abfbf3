"""Results as dataframes, by whichever package is installed."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Literal, get_args

from surefoot.errors import MissingPackage

#: Dataframe packages, in the order in which they are looked for.
Backend = Literal["pandas", "polars", "pyarrow"]


def build_frame(columns: dict[str, list[Any]], backend: Backend | None = None) -> Any:
    """A dataframe of columns, by the package named or the first that is installed.

    Examples
    --------
    >>> build_frame({"metric": ["csr"], "value": [1.5]}, "polars").shape
    (1, 2)
    """
    import narwhals as nw

    known: tuple[Backend, ...] = get_args(Backend)
    if backend is not None and backend not in known:
        raise ValueError(f"backend is {backend!r}; it should be one of {', '.join(known)}.")
    for name in known if backend is None else (backend,):
        try:
            return nw.from_dict(columns, backend=name).to_native()
        except ImportError:
            continue
    wanted = backend or "pandas"
    raise MissingPackage(f"a dataframe needs {wanted}: pip install {wanted}.")


class CurveTable:
    """A curve whose fields are arrays of one length, one entry for each point of it."""

    def to_frame(self, backend: Backend | None = None) -> Any:
        """The curve as a dataframe, one row for each point.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            The package of the dataframe; by default the first of these that is installed.

        Returns
        -------
        dataframe
            A column for each attribute.
        """
        columns: Any = fields(self)  # type: ignore[arg-type]
        return build_frame({one.name: getattr(self, one.name).tolist() for one in columns}, backend)
