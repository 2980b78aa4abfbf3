"""Where everything is installed, no suite may be skipped for want of a package."""

import os
import shutil
from importlib.util import find_spec

import postgres_server
import pytest

pytestmark = pytest.mark.heavy


@pytest.mark.skipif(not os.environ.get("CI"), reason="a matter of continuous integration")
@pytest.mark.parametrize(
    "package",
    [
        "torch",
        "torchmetrics",
        "triton",
        "pyspark",
        "distributed",
        "mapie",
        "netcal",
        "relplot",
        "selenium",
        "betacal",
        "venn_abers",
        "psycopg",
        "uvicorn",
        "confluent_kafka",
        "evaluate",
        "inspect_ai",
        "lightning",
        "mlflow",
    ],
)
def test_a_package_is_there(package: str) -> None:
    assert find_spec(package) is not None


@pytest.mark.skipif(not os.environ.get("CI"), reason="a matter of continuous integration")
@pytest.mark.parametrize("program", ["java", "chromium", "chromedriver", "pdftotext", "promtool", "curl"])
def test_a_program_is_there(program: str) -> None:
    assert shutil.which(program)


@pytest.mark.skipif(not os.environ.get("CI"), reason="a matter of continuous integration")
def test_a_database_server_is_there() -> None:
    assert postgres_server.binary("initdb")
