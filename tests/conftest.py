"""Profiles, and where the data live that the repository does not ship."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("dev"), derandomize=True, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# Spark stays on loopback: what else a machine calls itself may not resolve, or may be closed
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ.setdefault("SPARK_LOCAL_HOSTNAME", "127.0.0.1")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--real-data",
        default=os.environ.get("SUREFOOT_REAL_DATA"),
        help="folder with the real models' outputs (predictions/) and data sets (datasets/); also SUREFOOT_REAL_DATA",
    )

    parser.addoption("--kills", default=5, help="how often test_kills kills each command; a release takes 200")


@pytest.fixture(scope="session")
def real_predictions(request: pytest.FixtureRequest) -> Path:
    folder = request.config.getoption("--real-data")
    if not folder:
        pytest.skip("real predictions are not shipped; name their folder with --real-data")
    return Path(folder) / "predictions"


def _device(folder: Path, name: str, number: int) -> Path:
    """A device like /dev/null, which a faulty test run by root would replace for everybody."""
    if os.getuid() != 0:
        return Path("/dev", name)
    try:
        os.mknod(folder / name, stat.S_IFCHR | 0o666, os.makedev(1, number))
        (folder / name).open("wb").close()
    except OSError:
        pytest.skip("no device can be made here")
    return folder / name


@pytest.fixture
def null(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _device(tmp_path_factory.mktemp("devices"), "null", 3)


@pytest.fixture
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _device(tmp_path_factory.mktemp("devices"), "full", 7)
