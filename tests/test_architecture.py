"""How the source is built: imports at the top, keys that say what they do, whole layers, short files."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import surefoot

ROOT = Path(__file__).parents[1]
SOURCE = Path(surefoot.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
LONGEST = 500

#: Modules that may import ours within a function, and why.
DEFERRED = {
    "surefoot.cli": "the command line answers --help before NumPy is loaded",
    "surefoot.paper.command": "the same, for the commands of the paper",
}
#: Imports within a function, by module and what it imports, and why.
DEFERRED_ONE_BY_ONE = {
    ("surefoot.calibrators", "surefoot.calibrators.wrapper"): "scikit-learn, which is optional",
    ("surefoot.engines.torch", "surefoot.engines.triton_areas"): "Triton, which is there with a GPU only",
    ("surefoot.engines.torch", "surefoot.engines.triton_counts"): "Triton, which is there with a GPU only",
    (
        "surefoot.integrations.torchmetrics.base",
        "surefoot.predictions.triton",
    ): "Triton, which is there with a GPU only",
    ("surefoot.predictions.tensors", "surefoot.predictions.triton"): "Triton, which is there with a GPU only",
}


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(node: ast.AST) -> list[str]:
    """Our own modules that a statement imports."""
    if isinstance(node, ast.ImportFrom):
        names = ["surefoot" if node.level else node.module or ""]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        names = []
    return [name for name in names if name.split(".")[0] == "surefoot"]


def imports_in_functions() -> Iterator[tuple[str, str, int]]:
    for path in MODULES:
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                for node in ast.walk(function):
                    for name in imported(node):
                        yield name_of(path), name, getattr(node, "lineno", 0)


def is_deferred(module: str, name: str) -> bool:
    rooms = (module == room or module.startswith(f"{room}.") for room in DEFERRED)
    return any(rooms) or (module, name) in DEFERRED_ONE_BY_ONE


def test_our_own_modules_are_imported_at_the_top() -> None:
    found = {f"{module}:{line} imports {name}" for module, name, line in imports_in_functions()}
    assert found, "nothing was looked at"
    astray = {
        f"{module}:{line} imports {name}"
        for module, name, line in imports_in_functions()
        if not is_deferred(module, name)
    }
    assert astray == set()


def test_kinds_of_keys_are_seldom_asked_for() -> None:
    """What depends on the kind of a key is a method of the key; engines ask in a few places only."""
    asks = re.compile(r"isinstance\(.*(NoKey|Bins|ClassPair|ClassScore|DoubtCell|EachRow|ExactConfidence)")
    found = [
        f"{name_of(path)}:{number}"
        for path in MODULES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if asks.search(line)
    ]
    assert len(found) <= 5, found


def test_every_module_lies_in_a_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layered,) = (contract for contract in contracts if contract["type"] == "layers")
    assert layered["exhaustive"] is True
    assert layered["containers"] == ["surefoot"]
    layers = [room for layer in layered["layers"] for room in re.split(r"\s*[|:]\s*", layer)]
    assert len(layers) == len(set(layers))
    rooms = {name_of(path).split(".")[1] for path in MODULES if path != SOURCE / "__init__.py"}
    assert rooms == set(layers)


def test_no_file_is_long() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}
