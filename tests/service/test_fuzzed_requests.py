"""Damaged and hostile requests never make the server fail. More of them: ``make fuzz-requests``."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from tests.service.fuzzing import request, try_requests


def test_no_request_makes_the_server_fail_or_stores_what_it_does_not_count(tmp_path: Path) -> None:
    escaped, statuses = try_requests(1, range(400), tmp_path)
    assert escaped == []
    # they reach what is behind the checks, and each of the checks
    assert {200, 400, 401, 404, 405, 409} <= set(statuses)


def test_a_request_is_the_same_for_the_same_numbers() -> None:
    assert request(1, 7, "token") == request(1, 7, "token")
    assert request(1, 7, "token") != request(1, 8, "token")
