"""Every public name is documented: a walk through the API reads each docstring against its signature.

Public is what `surefoot.__all__` names, the public names of its modules, their public methods, properties and fields,
and the classes of ours that such fields hold.
"""

import dataclasses
import inspect
import re
import sys
import typing
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NamedTuple

import docstring_parser
import pytest
from docstring_parser import Docstring

import surefoot

#: Methods with underscores that users call, by another spelling.
CALLED = ("__call__", "__getitem__")
#: Modules that need a package of their own.
NEEDS = {"plots": "matplotlib", "sklearn": "sklearn", "torchmetrics": "torchmetrics"}
#: Internal classes that a public field holds for our own use; the field says so.
INTERNAL = {"ArrayPredictions", "Concentration", "Counts", "Coverage", "DoubtTable", "Key", "Roc", "Table"}


class Public(NamedTuple):
    """A public name and what it stands for; of a method or a property also the class."""

    name: str
    value: Any
    owner: type | None = None


def modules() -> Iterator[tuple[str, ModuleType]]:
    yield "surefoot", surefoot
    for name in surefoot._MODULES:
        if name not in NEEDS or find_spec(NEEDS[name]):
            yield f"surefoot.{name}", import_module(f"surefoot.{name}")


def names_of(module: ModuleType) -> list[str]:
    listed = getattr(module, "__all__", None)
    return [name for name in (vars(module) if listed is None else listed) if not name.startswith("_")]


def is_ours(value: Any) -> bool:
    return getattr(value, "__module__", "").partition(".")[0] == "surefoot"


def exported() -> Iterator[Public]:
    for prefix, module in modules():
        for name in names_of(module):
            value = getattr(module, name)
            if (inspect.isclass(value) or inspect.isroutine(value)) and is_ours(value):
                yield Public(f"{prefix}.{name}", value)


def held_by(kind: type) -> Iterator[type]:
    """Our classes that the fields of a class hold."""

    def parts(hint: Any) -> Iterator[Any]:
        yield hint
        for part in typing.get_args(hint):
            yield from parts(part)

    modules = {**vars(typing), **{name: value for each in kind.__mro__ for name, value in _globals_of(each).items()}}
    for name in (field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ():
        if not name.startswith("_"):
            for part in parts(typing.get_type_hints(kind, modules)[name]):
                if inspect.isclass(part) and is_ours(part) and part.__name__ not in INTERNAL:
                    yield part


def _globals_of(kind: type) -> dict[str, Any]:
    return vars(sys.modules[kind.__module__])


def classes() -> dict[type, str]:
    """Public classes by their names: those that are exported, and those that their fields hold."""
    found: dict[type, str] = {}
    for public in exported():
        if inspect.isclass(public.value):
            found.setdefault(public.value, public.name)
    waiting = list(found)
    while waiting:
        for kind in held_by(waiting.pop()):
            if kind not in found:
                found[kind] = f"{kind.__module__}.{kind.__qualname__}"
                waiting.append(kind)
    return found


CLASSES = classes()
FUNCTIONS = {public.value: public.name for public in exported() if not inspect.isclass(public.value)}


def members() -> Iterator[Public]:
    """Public methods and properties of the public classes, those of our own that they inherit among them."""
    for kind, name in CLASSES.items():
        for member in dir(kind):
            owner = next((base for base in kind.__mro__ if member in vars(base)), None)
            if owner is None or not is_ours(owner) or (member.startswith("_") and member not in CALLED):
                continue
            value = vars(owner)[member]
            if isinstance(value, property | cached_property | classmethod | staticmethod) or inspect.isfunction(value):
                yield Public(f"{name}.{member}", getattr(kind, member, value), kind)


MEMBERS = {public.name: public for public in members()}
METHODS = {name: public for name, public in MEMBERS.items() if not isinstance(public.value, property | cached_property)}
PROPERTIES = {name: public for name, public in MEMBERS.items() if name not in METHODS}


def parsed(value: Any) -> Docstring:
    return docstring_parser.parse(inspect.getdoc(value) or "", style=docstring_parser.DocstringStyle.NUMPYDOC)


def described(text: Docstring, *sections: str) -> set[str]:
    """The names that have words in some sections."""
    return {
        name.strip().lstrip("*")
        for one in text.params
        if one.args[0] in sections and (one.description or "").strip()
        for name in one.arg_name.split(",")
    }


def parameters(value: Any) -> list[str]:
    try:
        signature = inspect.signature(value)
    except ValueError:
        return []
    return [name for name in signature.parameters if name not in ("self", "cls") and not name.startswith("_")]


def returns_something(value: Any) -> bool:
    return inspect.signature(value).return_annotation not in (None, "None", inspect.Signature.empty)


def is_record(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


def lacks(value: Any, *sections: str) -> list[str]:
    text = parsed(value)
    known = described(text, *sections)
    return [name for name in parameters(value) if name not in known]


def all_functions() -> dict[str, Any]:
    return {**{name: value for value, name in FUNCTIONS.items()}, **{name: one.value for name, one in METHODS.items()}}


def test_the_walk_sees_the_whole_api() -> None:
    assert {"surefoot.assess", "surefoot.ece", "surefoot.risk_test", "surefoot.calibrators.load"} <= set(
        FUNCTIONS.values()
    )
    assert {"surefoot.Assessment.to_json", "surefoot.Monitor.update", "surefoot.Metric.__call__"} <= set(METHODS)
    assert {"surefoot.figures.reliability.Bin", "surefoot.RiskResult"} <= set(CLASSES.values())


@pytest.mark.parametrize("name", [*(FUNCTIONS.values()), *CLASSES.values(), *MEMBERS])
def test_every_public_name_has_a_summary(name: str) -> None:
    values = {**{name: kind for kind, name in (*FUNCTIONS.items(), *CLASSES.items())}}
    value = values[name] if name in values else MEMBERS[name].value
    summary = (inspect.getdoc(value) or "").split("\n\n")[0]
    assert summary
    assert "\n" not in summary.strip(), "the summary is one line"
    assert summary.endswith((".", "?")), "the summary is a sentence"


@pytest.mark.parametrize("name", list(all_functions()))
def test_every_parameter_and_what_is_returned_has_words(name: str) -> None:
    value = all_functions()[name]
    text = parsed(value)
    assert lacks(value, "param", "other_param") == []
    if returns_something(value):
        assert [one for one in text.many_returns if (one.description or "").strip()], "Returns is missing"


@pytest.mark.parametrize("name", list(all_functions()))
def test_no_parameter_is_described_twice(name: str) -> None:
    described = [one.arg_name for one in parsed(all_functions()[name]).params]
    assert sorted(described) == sorted(set(described))


@pytest.mark.parametrize("kind", list(CLASSES), ids=CLASSES.values())
def test_every_field_and_parameter_of_a_class_has_words(kind: type) -> None:
    text = parsed(kind)
    known = described(text, "param", "other_param", "attribute")
    fields = {
        name
        for base in kind.__mro__
        if is_ours(base)
        for name, hint in vars(base).get("__annotations__", {}).items()
        if not name.startswith("_") and "ClassVar" not in str(hint) and (is_record(kind) or name.endswith("_"))
    }
    own_init = next(base for base in kind.__mro__ if "__init__" in vars(base))
    asked = {*parameters(kind), *fields} if is_ours(own_init) and not inspect.isabstract(kind) else fields
    # what a class says of all its kind is said by the property or the class that has it
    asked -= {name for name in asked if isinstance(inspect.getattr_static(kind, name, None), property)}
    assert sorted(asked - known) == []


@pytest.mark.parametrize("name", list(FUNCTIONS.values()))
def test_every_public_function_has_an_example(name: str) -> None:
    value = all_functions()[name]
    assert ">>> " in (inspect.getdoc(value) or "")


def promised_views(name: str) -> set[str]:
    """The views that the help on a metric offers."""
    text = inspect.getdoc(getattr(surefoot, name, None)) or ""
    found = re.search(r"^of : \{(.*)\}", text, re.MULTILINE)
    return set() if found is None else set(re.findall(r"\w+", found[1]))


@pytest.mark.parametrize(
    "name", [name for name, metric in surefoot.metrics.ALL.items() if metric.views <= {"event", "classes"}]
)
def test_a_metric_of_events_promises_the_views_that_it_has(name: str) -> None:
    assert promised_views(name) == surefoot.metrics.ALL[name].views
