"""Tensors that cannot be computed with as they lie are refused, with what to give instead."""

from __future__ import annotations

from typing import Any

import pytest

import surefoot as sf

torch = pytest.importorskip("torch", reason="torch is not installed")

TABLE = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
TRUTH = torch.tensor([1, 0])


@pytest.mark.filterwarnings("ignore:.*prototype:UserWarning", "ignore:Sparse CSR:UserWarning", "ignore:torch.quantize:UserWarning")  # fmt: skip # noqa: E501
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda given: given.to_sparse(), r"is a sparse tensor; give {}.to_dense\(\)"),
        (lambda given: given.to_sparse_csr(), r"is a sparse tensor; give {}.to_dense\(\)"),
        (
            lambda given: torch.quantize_per_tensor(given, 0.01, 0, torch.quint8),
            r"is a quantized tensor; give {}.dequantize\(\)",
        ),
        (
            lambda given: given.to(torch.float8_e4m3fn),
            r"is a tensor of float8_e4m3fn, whose few digits are no confidences; give {}.float\(\)",
        ),
        (lambda given: torch.nested.nested_tensor([*given]), "is a nested tensor; give one with as many values"),
    ],
    ids=["sparse", "rows of sparse", "quantized", "float8", "nested"],
)
def test_tensors_of_other_kinds_are_refused(change: Any, said: str) -> None:
    with pytest.raises(sf.InvalidPredictions, match=f"probabilities {said.format('probabilities')}"):
        sf.csr(TRUTH, change(TABLE))


def test_plain_tensors_are_read() -> None:
    assert sf.accuracy(TRUTH, TABLE) == 1.0
