"""``surefoot calibrate``."""

from __future__ import annotations

import math
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot._io.masking import masked
from surefoot._io.printable import printable
from surefoot.cli.errors import clear_errors, say
from surefoot.cli.options import (
    Attempted,
    ConfidencePattern,
    Delimiter,
    Logits,
    Percent,
    Positive,
    Probabilities,
    Query,
    Sheet,
    Table,
    Truth,
    checked_delimiter,
    columns_of,
    manner_of,
    part_of,
)
from surefoot.cli.outputs import Content, check_outputs, write_files
from surefoot.cli.parsing import closest
from surefoot.cli.row_files import FORMATS, content

if TYPE_CHECKING:
    from surefoot.assessment.calibrate import Calibration, Trial
    from surefoot.calibrators.calibrator import Calibrator
    from surefoot.files.accounting import Accounting, Manner
    from surefoot.files.held import Reading
    from surefoot.files.part import Part
    from surefoot.files.source import Source
    from surefoot.predictions import ArrayPredictions
    from surefoot.render.text import Terminal

#: What the columns that are added start with.
_PREFIX = "calibrated_"


def command(
    fit: Annotated[
        str | None,
        typer.Option("--fit", metavar="FILE", help="Labelled rows to fit to, which the model was not trained on."),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option("--load", metavar="FILE", help="A calibrator saved with --save, instead of --fit."),
    ] = None,
    apply: Annotated[
        str | None, typer.Option("--apply", metavar="FILE", help="Rows to correct; labels are not needed.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the rows of --apply go, with all their columns and calibrated_... beside them: .csv, .parquet, "
            ".arrow, .feather or .jsonl.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", metavar="NAME", help="A calibrator, such as safe_platt; default: the recommended one."
        ),
    ] = None,
    save: Annotated[
        str | None, typer.Option("--save", metavar="FILE", help="Save the calibrator, a small JSON file.")
    ] = None,
    truth: Truth = None,
    probabilities: Probabilities = None,
    logits: Logits = None,
    positive: Positive = None,
    attempted: Attempted = None,
    delimiter: Delimiter = None,
    percent: Percent = None,
    drop_missing: Annotated[
        bool,
        typer.Option(
            "--drop-missing", help="Leave out rows of --fit that lack a probability or an outcome, and count them."
        ),
    ] = False,
    confidence_pattern: ConfidencePattern = None,
    sheet: Sheet = None,
    table: Table = None,
    query: Query = None,
) -> None:
    """Correct probabilities with the help of labelled rows.

    Without a method, several are fitted to half of the rows and compared on the other half. The best of those with a
    proven guarantee is used.

    \b
      surefoot calibrate --fit validation.csv
      surefoot calibrate --fit validation.csv \\
        --apply test.csv -o fixed.csv --save c.json
      surefoot calibrate --load c.json \\
        --apply new.csv -o fixed.csv
    """
    delimiter, part = checked_delimiter(delimiter), part_of(locals())
    columns, manner = columns_of(locals()), manner_of(locals())
    _check_options(fit, load, apply, output, method, save)
    if load is not None and drop_missing:
        raise typer.BadParameter("--drop-missing leaves out rows of --fit, and every row of --apply is kept; drop it")
    with clear_errors():
        check_outputs(output, save, beside=[path for path in (fit, load, apply) if path is not None])
        if load is not None:
            from surefoot.calibrators.registry import load as load_calibrator

            model, names, label = load_calibrator(load), None, None
            known = _known_of(model, load)
        else:
            assert fit is not None
            reading, known = _read(fit, columns, delimiter, part, positive, manner)
            model = _fit(reading, _checked_method(method), is_text=known.is_text)
            model.is_of_percentages = known.scale == "percent"
            names, label = _score_columns(reading), reading.columns.truth if reading.columns else None
            model.columns = tuple(names) if len(names) > 1 else ()
        # nothing is written before all is known
        rows = None if apply is None else _apply(model, names, apply, columns, positive, delimiter, part, manner, known)
        contents: dict[str, Content] = {}
        if save is not None:
            contents[save] = model
        if rows is not None and output is not None:
            contents[output], escaped = content(rows.table, Path(output).suffix)
        sizes = write_files(contents)
        if save is not None:
            say(f"  Wrote {save} ({sizes[save]})")
            if rows is None:
                say(f"  To correct new rows:  {_to_apply(save, columns, known, delimiter)}")
        if rows is not None and output is not None:
            say(f"  Wrote {output} ({rows.table.num_rows:,} rows, {sizes[output]}): added {', '.join(rows.added)}")
            if escaped:
                _say_wrapped(escaped)
            if label is not None and label in rows.table.column_names:
                say(f"  To check it:  {shlex.join(['surefoot', 'assess', output, *rows.options(label)])}")
        if save is None and rows is None:
            words = (
                "Nothing was saved: add --save FILE to keep the calibrator, or --apply FILE -o FILE to correct rows."
            )
            _say_wrapped(words)


def _to_apply(saved: str, columns: dict[str, str], known: Accounting | None, delimiter: str | None) -> str:
    """The command that corrects rows like those of --fit, with what had to be named there."""
    assert known is not None
    named = next(([f"--{role}", columns[role]] for role in ("probabilities", "logits") if role in columns), [])
    named += _of_apply(known.manner).options()
    named += ["--delimiter", delimiter] if delimiter is not None else []
    return shlex.join(["surefoot", "calibrate", "--load", saved, "--apply", "NEW.csv", *named, "-o", "fixed.csv"])


def _of_apply(manner: Manner) -> Manner:
    """How rows that are to be corrected are read: none of them is left out."""
    return replace(manner, drop_missing=False, may_drop=False)


def _known_of(model: Calibrator, path: str) -> Accounting | None:
    """How rows were read that a saved calibrator was fitted to, as far as it tells."""
    from surefoot.files.accounting import Accounting, Manner
    from surefoot.files.columns import Columns

    return Accounting(masked(path), Columns(), Manner(), scale="percent") if model.is_of_percentages else None


def _check_options(
    fit: str | None, load: str | None, apply: str | None, output: str | None, method: str | None, save: str | None
) -> None:
    if fit is None and load is None:
        raise typer.BadParameter("give --fit FILE to fit a calibrator, or --load FILE to apply a saved one")
    if load is not None:
        for name, value in (("--fit", fit), ("--method", method), ("--save", save)):
            if value is not None:
                raise typer.BadParameter(f"--load takes a calibrator as it was saved; leave out {name} {value}")
        if apply is None:
            raise typer.BadParameter("--load needs rows to correct: give --apply FILE and -o FILE")
    if (apply is None) != (output is None):
        missing = "-o FILE for the corrected rows" if output is None else "--apply FILE with the rows to correct"
        raise typer.BadParameter(f"--apply and --output go together; give {missing}")
    if output is not None and Path(output).suffix not in FORMATS:
        raise typer.BadParameter(f"--output is {output!r}; it should end in {', '.join(FORMATS)}")


def _checked_method(method: str | None) -> str | None:
    from surefoot.calibrators.registry import NAMED

    if method is None or method in NAMED:
        return method
    plain = method.lower().replace("-", "_")
    if plain in NAMED:
        return plain
    hint = f"did you mean {found}? " if (found := closest(method, NAMED)) else ""
    raise typer.BadParameter(f"--method is {method!r}; {hint}there are {', '.join(NAMED)}")


def _open(path: str, delimiter: str | None, part: Part | None, purpose: str) -> list[Source]:
    from surefoot.core.tally import Tally
    from surefoot.files.opening import open_data
    from surefoot.files.source import BadFile

    sources = open_data(path, delimiter, part)
    if isinstance(sources, Tally):
        raise BadFile(f"a saved tally holds no rows to {purpose}", file=path)
    return sources


def _read(
    path: str,
    columns: dict[str, str],
    delimiter: str | None,
    part: Part | None,
    positive: str | None,
    manner: Manner,
) -> tuple[Reading, Accounting]:
    """Rows with probabilities and truth, in memory; and how they were read."""
    from surefoot.files.reader import Reader
    from surefoot.files.source import BadFile

    sources = _open(path, delimiter, part, "fit to")
    reader = Reader(masked(path), sources, columns, None, None, None, None, positive=positive, manner=manner)
    reading = reader.whole()
    if reading.columns is None or not (reading.columns.probabilities or reading.columns.logits):
        raise BadFile("calibration needs probabilities; name them with --probabilities or --logits", file=path)
    _say_wrapped(f"Columns used: {reading.said}")
    if reader.accounting.dropped:
        _say_wrapped(reader.accounting.notes()[0])
    _say_scale(reader.accounting)
    return reading, reader.accounting


def _say_scale(accounting: Accounting) -> None:
    """Say so if a file holds percentages."""
    from surefoot.files.accounting import PERCENTAGES

    if accounting.scale == "percent":
        _say_wrapped(f"{printable(accounting.name)}: {PERCENTAGES}")


def _say_wrapped(text: str) -> None:
    from surefoot.render.text import Terminal

    terminal = Terminal.detect()
    for line in textwrap.wrap(terminal.simplify(text), _width(terminal)):
        say(f"  {line}")


def _score_columns(reading: Reading) -> list[str]:
    """The columns of probabilities or logits that a calibrator is fitted to."""
    assert reading.columns is not None
    role = reading.columns.logits or reading.columns.probabilities
    return [role] if isinstance(role, str) else list(role or ())


def _fit(reading: Reading, method: str | None, *, is_text: bool) -> Any:
    """The calibrator that was asked for, or the recommended one with how it was found."""
    from surefoot.assessment.calibrate import calibrate
    from surefoot.calibrators.registry import new_calibrator
    from surefoot.render.text import Terminal

    rows: ArrayPredictions = reading.held  # type: ignore[assignment]
    assert reading.columns is not None
    from_logits = reading.columns.logits is not None
    table = _logits(rows) if from_logits else _open_ends(rows.probabilities, reading.name, is_text=is_text)
    if method is not None:
        return new_calibrator(method, from_logits=from_logits).fit(table, rows.truth, labels=list(rows.labels or ()))
    found = calibrate(rows.truth, table, labels=list(rows.labels or ()), from_logits=from_logits)
    say("\n" + "\n".join(f"  {line}".rstrip() for line in _lines(found, Terminal.detect())) + "\n")
    return found.calibrator


def _open_ends(table: Any, name: str, *, is_text: bool) -> Any:
    """Probabilities with half a last digit of doubt where text has rounded them to 1, or to 0 beside such a 1.

    For numbers of one or two decimals this is what ``surefoot assess`` does. Of more decimals it assumes more doubt,
    which would place a 1.000 below a 0.999.
    """
    import numpy as np

    from surefoot.files.rounding import decimals_of

    decimals = decimals_of(table.ravel()) if is_text else None
    if not decimals:
        return table
    half_step = 0.5 * 10.0**-decimals
    if table.ndim == 1:
        is_rounded = (table == 0) | (table == 1)
        read = np.clip(table, half_step, 1 - half_step)
    else:
        is_rounded = (table == 1).any(axis=1)
        ends = np.where(table == 1, 1 - half_step, half_step / (table.shape[1] - 1))
        read = np.where(is_rounded[:, None], ends, table)
    if count := int(is_rounded.sum()):
        _say_wrapped(
            f"{printable(name)}: {count:,} of {len(table):,} rows have a probability of 1 or 0 that was rounded; "
            f"1 is read as {1 - half_step:.{decimals + 1}f}"
        )
    return read


def _width(terminal: Terminal) -> int:
    """Columns for text beside the margin: what the terminal has, from 50 up, and no more than reads well."""
    return min(max(terminal.width, 50), 98) - 2


def _lines(found: Calibration, terminal: Terminal) -> Iterator[str]:
    """The calibrators that were compared, in as many columns as there is room for, and the one that is recommended."""
    from surefoot.assessment.calibrate import advice, meaning_of_risky, note_on

    rows = [_trial(name, trial) for name, trial in found.trials.items()]
    titles = ["", "log loss", "less than raw, 95% CI", "cwA", "CSR", "p-value", "proof"]
    widths = [max(len(row[i]) for row in [titles, *rows]) + 2 for i in range(len(titles))]
    kept = {0}
    for i in (1, 6, 5, 2, 4, 3):
        if sum(widths[j] for j in kept) + widths[i] <= _width(terminal):
            kept.add(i)
    for row in [titles, *rows]:
        yield "".join(f"{row[i]:<{widths[i]}}" if i == 0 else f"{row[i]:>{widths[i]}}" for i in sorted(kept))
    for name, trial in found.trials.items():
        if trial.note:
            yield from textwrap.wrap(note_on(name, trial), _width(terminal), subsequent_indent="  ")
    yield from textwrap.wrap(meaning_of_risky(found), _width(terminal), subsequent_indent="  ")
    yield ""
    yield from textwrap.wrap(advice(found), _width(terminal))


def _trial(name: str, trial: Trial) -> list[str]:
    """A calibrator as a line of the table."""
    saved, risk = trial.saved, trial.assessment.risk
    if saved.is_absent:
        interval = "-" if math.isnan(saved.value) else f"{saved.value:+g}"
    else:
        interval = f"{saved.low:+.4f} to {saved.high:+.4f}"
    mark = " ".join(["yes"] * trial.is_safe + ["risky"] * trial.is_risky)
    numbers = [f"{trial.log_loss:.4f}", interval, f"{trial.assessment['cw_accuracy']:.4f}", f"{risk.csr:.3g}"]
    return [name, *numbers, f"{risk.pvalue_omnibus:.2g}", mark]


def _logits(rows: ArrayPredictions) -> Any:
    """Log-odds of the second label, or logarithms of all probabilities: logits that say the same."""
    from surefoot.calibrators.temperature import log_probabilities

    has_second_only = rows.probabilities is not None and rows.probabilities.ndim == 1
    return rows.score_log_odds(1, slice(None)) if has_second_only else log_probabilities(rows)


@dataclass(frozen=True)
class _Corrected:
    """Rows with the columns that were added to them."""

    table: Any
    added: tuple[str, ...]
    #: Whether the probabilities are those of being correct, so that no class was decided on.
    is_correctness: bool

    def options(self, truth: str) -> list[str]:
        """The options that assess the corrected rows: the decisions are those of the raw model."""
        if self.is_correctness:
            return ["--correct", truth, "--confidence", f"{_PREFIX}confidence"]
        return ["--truth", truth, "--predicted", f"{_PREFIX}predicted", "--confidence", f"{_PREFIX}confidence"]


def _apply(
    model: Any,
    names: list[str] | None,
    path: str,
    columns: dict[str, str],
    positive: str | None,
    delimiter: str | None,
    part: Part | None,
    manner: Manner,
    known: Accounting | None,
) -> _Corrected:
    """The rows of a file, in their order and with all their columns, and beside them what the calibrator makes of them.

    A column ``calibrated_x`` for each column x of probabilities; of a list, or of logits, one for each class. The raw
    model's decision stays, and ``calibrated_confidence`` is the confidence in it; of confidences in answers, the
    corrected confidence itself.
    """
    import numpy as np
    import pyarrow as pa

    from surefoot.files.accounting import Accounting
    from surefoot.files.columns import Columns
    from surefoot.files.databases import is_address
    from surefoot.files.source import BadFile
    from surefoot.files.unlabelled import scores_of
    from surefoot.predictions.columns import as_text

    sources = _open(path, delimiter, part, "correct")
    names = _columns_for(model, sources[0], columns, positive) if names is None else names
    for source in sources:
        absent = next((name for name in names if name not in source.schema.names), None)
        if absent is not None:
            raise BadFile(f"there is no column '{absent}', which the calibrator was fitted to", file=source.name)
    # a database may give its rows in another order, or other rows, when it is asked again
    whole = _rows(sources) if is_address(path) else None
    role = names[0] if len(names) == 1 else tuple(names)
    taken = Columns(logits=role) if model.from_logits else Columns(probabilities=role)
    accounting = Accounting(masked(path), taken, _of_apply(manner), is_text=all(s.is_text for s in sources))
    given = scores_of(sources, whole, accounting, known)
    _say_scale(accounting)
    is_text = accounting.is_text and not model.from_logits
    found = model.predict_proba(_open_ends(given, accounting.name, is_text=is_text))
    second = given.ndim == 1
    largest = (given > (0 if model.from_logits else 0.5)).astype(np.intp) if second else given.argmax(axis=1)
    if second and not model.from_logits:
        corrected = {names[0]: found[:, 1]}
    else:
        titles = names if len(names) > 1 and not model.from_logits else [f"p_{label}" for label in model.classes_]
        corrected = {name: found[:, i] for i, name in enumerate(titles)}
    # a column called confidence is that of answers which are right or wrong: nothing is decided by it
    is_correctness = "confidence" in corrected
    if not is_correctness:
        classes = model.classes_.tolist()
        corrected["predicted"] = as_text(classes, largest) if isinstance(classes[0], str) else model.classes_[largest]
        corrected["confidence"] = found[np.arange(len(found)), largest]
    table = _rows(sources) if whole is None else whole
    for name, column in corrected.items():
        if _PREFIX + name in table.column_names:
            raise BadFile(f"it has a column '{_PREFIX}{name}' already; rename or drop it", file=masked(path))
        table = table.append_column(_PREFIX + name, pa.array(column))
    return _Corrected(table, tuple(_PREFIX + name for name in corrected), is_correctness)


def _columns_for(model: Any, source: Source, columns: dict[str, str], positive: str | None) -> list[str]:
    """The columns of a file that a saved calibrator takes, in the order of its classes.

    They are known by the names that they had when it was fitted, or by the labels that they are named after.
    """
    from surefoot.files.finding import find_scores
    from surefoot.files.part import listed
    from surefoot.files.source import BadFile
    from surefoot.predictions.labels import distinct, kind_of, labels_in_names

    classes = model.classes_.tolist()
    if positive is not None and positive != str(classes[1]):
        raise typer.BadParameter(
            f"--positive is {positive!r}, but the calibrator was fitted to the probability of {classes[1]!r}"
        )
    role = find_scores(
        source.name, source.head(), {k: v for k, v in columns.items() if k not in ("truth", "attempted")}
    )
    if isinstance(role, str):
        return [role]
    if len(role) != len(classes):
        raise BadFile(
            f"it has {len(role)} columns of probabilities, and the calibrator {len(classes)} classes: "
            f"{listed([str(label) for label in classes])}",
            file=source.name,
        )
    if set(role) == set(model.columns):
        return list(model.columns)
    labels = labels_in_names(distinct(model.classes_), kind_of(model.classes_), list(role))
    if labels is not None:
        places = dict(zip(labels, role, strict=True))
        return [places[label] for label in classes]
    if model.columns:
        raise BadFile(
            f"its columns of probabilities are {listed(list(role))}, and the calibrator was fitted to "
            f"{listed(list(model.columns))}",
            hint="rename them to those, or after the labels",
            file=source.name,
        )
    pairs = ", ".join(
        f"{printable(name)} of {printable(str(label))}" for name, label in zip(role, classes, strict=True)
    )
    _say_wrapped(
        f"The calibrator does not hold the names of its columns; they are taken in the order of its classes: {pairs}."
    )
    return list(role)


def _rows(sources: Sequence[Source]) -> Any:
    """All columns of all files as they are written, in the order of rows."""
    import pyarrow as pa

    from surefoot.files.delimited import DelimitedFile

    tables = []
    for source in sources:
        names = list(source.schema.names)
        if isinstance(source, DelimitedFile):
            source.verbatim = frozenset(names)
        tables += [batch.table for batch in source.batches(names, ())]
    return pa.concat_tables(tables, promote_options="permissive")
