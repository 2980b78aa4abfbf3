"""``surefoot calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.assess import check_outputs, size_of
from surefoot.cli.errors import clear_errors
from surefoot.cli.options import Delimiter, Logits, Positive, Probabilities, Truth, checked_delimiter, columns_of

if TYPE_CHECKING:
    from surefoot.files.reader import Reading
    from surefoot.predictions import ArrayPredictions

_FORMATS = (".csv", ".parquet", ".arrow", ".feather", ".jsonl")


def command(
    fit: Annotated[
        str, typer.Option("--fit", metavar="FILE", help="Rows with their truth, that no model was fitted to.")
    ],
    apply: Annotated[
        str | None, typer.Option("--apply", metavar="FILE", help="Rows to correct; the truth is not needed.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="OUT", help="Where corrected rows go, in order.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", metavar="NAME", help="A calibrator, such as safe_platt; by default the recommended one."
        ),
    ] = None,
    save: Annotated[
        str | None, typer.Option("--save", metavar="OUT", help="Keep the calibrator, a small JSON file.")
    ] = None,
    truth: Truth = None,
    probabilities: Probabilities = None,
    logits: Logits = None,
    positive: Positive = None,
    delimiter: Delimiter = None,
) -> None:
    """Correct probabilities by rows whose truth is known.

    Without a method, several are fitted to half of the rows and compared on the other half, and the most useful one
    that comes with a proof is taken, fitted to all of them.

    \b
      surefoot calibrate --fit validation.csv
      surefoot calibrate --fit validation.csv --apply test.csv -o corrected.csv --method safe_platt
    """
    delimiter = checked_delimiter(delimiter)
    columns = columns_of(locals())
    if (apply is None) != (out is None):
        raise typer.BadParameter("give --apply and --out together")
    if out is not None and Path(out).suffix not in _FORMATS:
        raise typer.BadParameter(f"--out is {out!r}; it should end in {', '.join(_FORMATS)}")
    with clear_errors():
        from surefoot.calibrators.registry import NAMED

        if method is not None and method not in NAMED:
            raise typer.BadParameter(f"there is no calibrator {method!r}; there are {', '.join(NAMED)}")
        check_outputs(out, save, beside=[path for path in (fit, apply) if path is not None])
        reading = _read(fit, columns, delimiter, positive)
        model = _fit(reading, method)
        # nothing is written before all is known
        rows = None if apply is None else _apply(model, reading, apply, delimiter)
        if save is not None:
            model.save(save)
            print(f"  Wrote {save} ({size_of(save)})")
        if rows is not None and out is not None:
            _write(rows, Path(out))
            print(f"  Wrote {out} ({rows.num_rows:,} rows, {size_of(out)})")


def _read(path: str, columns: dict[str, str], delimiter: str | None, positive: str | None) -> Reading:
    """Rows with probabilities and truth, in memory."""
    from surefoot.core.tally import Tally
    from surefoot.files.opening import open_data
    from surefoot.files.reader import Reader
    from surefoot.files.source import BadFile

    sources = open_data(path, delimiter)
    if isinstance(sources, Tally):
        raise BadFile(f"{path}: a saved tally holds no rows to fit to")
    reading = Reader(path, sources, columns, None, None, None, None, positive=positive).whole()
    if reading.columns is None or not (reading.columns.probabilities or reading.columns.logits):
        raise BadFile(f"{path}: calibration needs probabilities; name them with --probabilities or --logits")
    print(f"  {reading.said}")
    return reading


def _fit(reading: Reading, method: str | None) -> Any:
    """The calibrator that was asked for, or the recommended one with how it was found."""
    from surefoot.assessment.calibrate import calibrate
    from surefoot.calibrators.registry import new_calibrator

    rows: ArrayPredictions = reading.held  # type: ignore[assignment]
    assert reading.columns is not None
    from_logits = reading.columns.logits is not None
    table = _logits(rows) if from_logits else rows.probabilities
    if method is not None:
        return new_calibrator(method, from_logits=from_logits).fit(table, rows.truth, labels=list(rows.labels or ()))
    found = calibrate(rows.truth, table, labels=list(rows.labels or ()), from_logits=from_logits)
    print(f"\n{found}\n")
    return found.calibrator


def _logits(rows: ArrayPredictions) -> Any:
    """Log-odds of the second label, or logarithms of all probabilities: logits that say the same."""
    from surefoot.calibrators.temperature import log_probabilities

    has_second_only = rows.probabilities is not None and rows.probabilities.ndim == 1
    return rows.score_log_odds(1, slice(None)) if has_second_only else log_probabilities(rows)


def _apply(model: Any, reading: Reading, path: str, delimiter: str | None) -> Any:
    """The rows of a file, in their order: corrected probabilities, and what the raw model predicts and how surely.

    Columns of probabilities keep their names; of a list, or of logits, each class has one.
    """
    import numpy as np
    import pyarrow as pa

    from surefoot.core.tally import Tally
    from surefoot.files.opening import open_data
    from surefoot.files.source import BadFile
    from surefoot.predictions.columns import as_array

    sources = open_data(path, delimiter)
    if isinstance(sources, Tally):
        raise BadFile(f"{path}: a saved tally holds no rows to correct")
    assert reading.columns is not None
    role = reading.columns.logits or reading.columns.probabilities
    names = [role] if isinstance(role, str) else list(role or ())
    tables = []
    for source in sources:
        absent = next((name for name in names if name not in source.schema.names), None)
        if absent is not None:
            raise BadFile(f"{source.name}: there is no column '{absent}', which the calibrator was fitted to")
        tables += [batch.table for batch in source.batches(names, names)]
    rows = pa.concat_tables(tables, promote_options="permissive")
    values = [as_array(name, rows.column(name)) for name in names]
    given = values[0] if len(values) == 1 else np.stack(values, axis=1)
    found = model.predict_proba(given)
    second = given.ndim == 1
    largest = (given > (0 if model.from_logits else 0.5)).astype(np.intp) if second else given.argmax(axis=1)
    if second and not model.from_logits:
        corrected = {names[0]: found[:, 1]}
    else:
        labels = names if len(names) > 1 and not model.from_logits else [f"p_{label}" for label in model.classes_]
        corrected = {name: found[:, i] for i, name in enumerate(labels)}
    return pa.table(
        {
            **{name: pa.array(column) for name, column in corrected.items()},
            "predicted": pa.array(model.classes_[largest]),
            "confidence": pa.array(found[np.arange(len(found)), largest]),
        }
    )


def _write(rows: Any, out: Path) -> None:
    """The whole file, or none of it."""
    import io
    import json

    import pyarrow as pa

    from surefoot._io.writing import write_whole

    sink = io.BytesIO()
    if out.suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(rows, sink)
    elif out.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(rows, sink)
    elif out.suffix == ".jsonl":
        sink.write("".join(f"{json.dumps(row, default=str)}\n" for row in rows.to_pylist()).encode())
    else:
        with pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_table(rows)
    write_whole(out, sink.getvalue())
