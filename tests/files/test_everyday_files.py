"""Files that people have: they are read, or refused with what is wrong and what to do."""

from __future__ import annotations

import csv
import gzip
import io
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import surefoot as sf
from surefoot.files import streams
from surefoot.files.columnar import ArrowFile
from surefoot.files.reading import read

ROWS = "correct,confidence\n1,0.9\n0,0.6\n"


def refused(path: Path, content: str | bytes, words: str) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(sf.InvalidPredictions, match=words):
        sf.load(path)


# -- quotes that swallow rows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("begin", ["", "\ufeff"])
def test_a_quote_that_is_never_closed_loses_no_row(end: str, begin: str, tmp_path: Path) -> None:
    text = begin + end.join(["correct,confidence,note", "1,0.9,a", '0,0.8,"b', "1,0.7,c", "1,0.6,d", ""])
    refused(tmp_path / "a.csv", text, "row 2: a quote that is never closed")


def test_a_quote_closed_by_one_of_a_later_row_loses_no_row(tmp_path: Path) -> None:
    text = 'correct,confidence,note\n1,0.9,"a\n0,0.8,"b\n1,0.7,c\n'
    refused(tmp_path / "a.csv", text, "row 1: a quote that is closed by one within another cell")


def test_cells_over_several_lines_and_plain_quotes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('correct,confidence,note\n1,0.9,"a\n""b"", c"\n0,0.8,5" pipe\n1,0.7,"x"\n')
    assert len(sf.load(path)) == 3


def test_a_quote_that_is_never_closed_is_found_in_any_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_FIRST", 64)
    monkeypatch.setattr(streams, "_PIECE", 64)
    rows = "".join(f'1,0.9,"a{i}"\n' for i in range(40))
    text = f'correct,confidence,note\n{rows}0,0.6,"open\n{rows.replace(chr(34), "")}'
    refused(tmp_path / "a.csv", text, "row 41: a quote that is never closed")


@pytest.mark.parametrize("plain", ['5" pipe', '5"', 'a 12" b', '6\'2""'])
def test_a_quote_in_a_plain_cell_does_not_close_those_of_others(plain: str, tmp_path: Path) -> None:
    """Beyond the first piece, where lines end was told by the number of quotes: the file was refused."""
    path = tmp_path / "a.csv"
    rows = [f"{n % 2},0.9,{plain}" if n == 10 else f'{n % 2},0.{n % 9 + 1},"one, of\nsome ""lines"""' for n in range(50_000)]  # fmt: skip # noqa: E501
    path.write_text("correct,confidence,note\n" + "\n".join(rows) + "\n")
    assert path.stat().st_size > streams._FIRST
    assert len(list(csv.reader(io.StringIO(path.read_text(), newline="")))) == 50_001
    held = sf.load(path)
    assert (len(held), int(held.correct.sum())) == (50_000, 25_000)


# -- headers and rows --------------------------------------------------------------------------------------------------


def test_two_columns_of_one_name_are_refused_in_every_format(tmp_path: Path) -> None:
    refused(tmp_path / "a.csv", "correct,confidence,x,x\n1,0.9,1,2\n", "two columns are called 'x'; rename one")
    held = pa.Table.from_arrays([pa.array([1]), pa.array([0.9]), pa.array([1]), pa.array([2])], ["correct", "confidence", "x", "x"])  # fmt: skip # noqa: E501
    pq.write_table(held, tmp_path / "a.parquet")
    pa.feather.write_feather(held.rename_columns(["correct", "confidence", "x", "y"]), str(tmp_path / "a.arrow"))
    with pytest.raises(sf.InvalidPredictions, match="two columns are called 'x'"):
        sf.load(tmp_path / "a.parquet")
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, pa.ipc.new_file(sink, held.schema) as writer:
        writer.write_table(held)
    with pytest.raises(sf.InvalidPredictions, match="two columns are called 'x'"):
        sf.load(tmp_path / "a.arrow")


def test_a_header_without_a_line_end_has_no_rows(tmp_path: Path) -> None:
    refused(tmp_path / "a.csv", "correct,confidence", "one line, and no rows below it")


def test_latin_1_is_read_in_headers_and_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("région,correct,confidence\nsüd,1,0.9\n".encode("latin-1"))
    assert read(str(path), {}, by="région").by.tolist() == ["süd"]


@pytest.mark.parametrize("before", [0, 200_000])
def test_a_latin_1_row_that_is_too_long_is_named(before: int, tmp_path: Path) -> None:
    text = "note,correct,confidence\n" + "a,1,0.9\n" * before + "é,0,0.8,1,1\n"
    words = f"row {before + 1:,}: 5 columns instead of 3 ('é,0,0.8,1,1')".replace("(", r"\(").replace(")", r"\)")
    refused(tmp_path / "a.csv", text.encode("latin-1"), words)


def test_a_first_row_of_more_than_a_piece_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"note,correct,confidence\n{'a' * (1 << 21)},1,0.9\nb,0,0.6\n")
    assert len(sf.load(path)) == 2


@pytest.mark.parametrize("confidence", ["1e-200", "-0.0", "5e-324"])
def test_confidences_at_the_end_of_the_scale_are_assessed(confidence: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"correct,confidence\n1,0.9\n0,{confidence}\n1,0.75\n")
    assert np.isfinite(sf.assess(path).csr)


# -- pipes -------------------------------------------------------------------------------------------------------------


def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    writer = Thread(target=lambda: path.write_text(ROWS))
    writer.start()
    assert len(sf.load(path)) == 2
    writer.join()


def test_what_a_shell_hands_over_as_a_file_is_read() -> None:
    program = "import sys, surefoot as sf; print(len(sf.load(sys.argv[1])))"
    script = f"{sys.executable} -c '{program}' <(printf '%s' \"$ROWS\"); printf '%s' \"$ROWS\" | {sys.executable} -c '{program}' /dev/stdin"  # noqa: E501
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=False, env={**os.environ, "ROWS": ROWS}
    )
    assert done.stdout.split() == ["2", "2"], done.stderr


def test_a_device_is_refused() -> None:
    with pytest.raises(sf.InvalidPredictions, match="a device, which holds no rows"):
        sf.load("/dev/zero")


# -- arrays ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [">f8", ">f4", "<f8", "g"])
def test_numbers_of_any_byte_order_and_width_are_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, correct=np.array([1, 0, 1], ">i4"), confidence=np.array([0.5, 0.75, 0.875], kind))
    assert sf.load(path).confidence.tolist() == [0.5, 0.75, 0.875]


def test_arrays_in_the_order_of_fortran_keep_their_rows(tmp_path: Path) -> None:
    p = np.array([[0.1, 0.9], [0.2, 0.8], [0.7, 0.3]])
    np.savez(tmp_path / "a.npz", y_true=[1, 0, 1], probabilities=np.asfortranarray(p))
    assert sf.load(tmp_path / "a.npz").confidence.tolist() == [0.9, 0.8, 0.7]


def test_an_array_without_columns_is_not_a_column(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", y_true=[1, 0], probabilities=np.zeros((2, 0)))
    with pytest.raises(sf.InvalidPredictions, match="no column of confidences"):
        sf.load(tmp_path / "a.npz")


# -- JSON --------------------------------------------------------------------------------------------------------------


def test_a_confidence_beyond_all_floats_is_refused_with_its_row(tmp_path: Path) -> None:
    line = '{{"correct": 1, "confidence": {}}}\n'
    refused(tmp_path / "a.jsonl", line.format("0.5") + line.format("9" * 400), "row 2")


def test_a_column_of_huge_numbers_that_is_not_used_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        f'{{"correct": 1, "confidence": 0.5, "x": {"9" * 400}}}\n{{"correct": 1, "confidence": 0.5, "x": 0.5}}\n'
    )
    assert len(sf.load(path)) == 2


def test_half_a_character_is_named(tmp_path: Path) -> None:
    line = '{{"truth": "{}", "predicted": "a", "confidence": 0.5}}\n'
    refused(tmp_path / "a.jsonl", line.format("a") + line.format("\\ud800"), "row 2: truth is .*half of a character")


def test_a_number_of_five_thousand_digits_is_refused_with_its_row(tmp_path: Path) -> None:
    refused(
        tmp_path / "a.jsonl", f'{{"id": {"9" * 5000}, "correct": 1, "confidence": 0.5}}\n', "row 1: not a JSON object"
    )


# -- names, time and pieces --------------------------------------------------------------------------------------------


def test_an_error_about_a_packed_tally_names_the_file_that_was_given(tmp_path: Path) -> None:
    path = tmp_path / "week.tally.gz"
    path.write_bytes(gzip.compress(b'{"surefoot":"tally","schema":1}'))
    with pytest.raises(sf.InvalidPredictions, match=r"week\.tally\.gz: damaged tally"):
        sf.assess(path)


def test_arrow_files_that_are_cut_after_they_were_opened_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    held = pa.table({"correct": [1, 0] * 50_000, "confidence": [0.9, 0.6] * 50_000})
    pa.feather.write_feather(held, str(path), compression="uncompressed", chunksize=1000)
    opened = ArrowFile("a.arrow", str(path))
    batches = opened.batches(["correct", "confidence"], ["confidence"])
    assert next(batches).table.num_rows == 1000
    with path.open("r+b") as raw:
        raw.truncate(20_000)
    with pytest.raises(sf.InvalidPredictions, match="damaged after row"):
        list(batches)


def test_a_long_line_in_a_pipe_is_refused() -> None:
    program = (
        "import sys; from surefoot.files.reading import follow\n"
        "import surefoot as sf\n"
        "try: list(follow('-', {}, identifier=None, delimiter=None))\n"
        "except sf.InvalidPredictions as error: print(error)"
    )
    rows = b"correct,confidence,note\n1,0.9,a\n1,0.9," + b"x" * (60 << 20) + b"\n"
    done = subprocess.run([sys.executable, "-c", program], input=rows, capture_output=True, check=False)
    assert b"a line is longer than 32 MiB" in done.stdout, done.stderr


def test_a_logit_that_is_no_number_is_named_in_a_later_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_FIRST", 64)
    monkeypatch.setattr(streams, "_PIECE", 64)
    rows = "a,0.5,1.5\nb,2.5,0.5\n" * 10
    refused(
        tmp_path / "a.csv",
        f"truth,logit_a,logit_b\n{rows}a,0.5,high\n{rows}",
        "row 21: logit_b is 'high', not a number",
    )


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("cell", ['"one\n1,0.9,two"', '"5"" one\n1,0.9,two\nthree"', '5" pipe,"one\n1,0.9,two"'])
def test_a_quoted_cell_over_lines_is_one_cell_wherever_a_piece_ends(
    cell: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ",more" if cell.startswith("5") else ""
    path = tmp_path / "a.csv"
    plain = "1,0.7,x,y\n" if more else "1,0.7,x\n"
    path.write_text(f"correct,confidence,note{more}\n" + plain * 8 + f"0,0.8,{cell}{end}")
    # the header and a row are looked at together
    for size in range(45, path.stat().st_size + 2):
        monkeypatch.setattr(streams, "_FIRST", size)
        monkeypatch.setattr(streams, "_PIECE", 7)
        held = sf.load(path)
        assert held.confidence.tolist() == [0.7] * 8 + [0.8], size


def test_a_quote_that_nothing_closes_is_found_in_a_file_of_any_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("correct,confidence,note\n" + "1,0.7,x\n" * 8 + '0,0.8,"open\n' + "1,0.7,x\n" * 40)
    monkeypatch.setattr(streams, "_FIRST", 60)
    monkeypatch.setattr(streams, "_PIECE", 60)
    for most in (1 << 25, 200):
        monkeypatch.setattr("surefoot._io.limits.LINE", most)
        with pytest.raises(sf.InvalidPredictions, match="row 9: a quote that is never closed"):
            sf.load(path)
