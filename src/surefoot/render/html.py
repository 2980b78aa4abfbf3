"""The report: one HTML file that needs nothing else, with the verdict first and all numbers behind it."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from surefoot.assessment.result import Assessment
from surefoot.errors import MissingPackage
from surefoot.render.error_section import ErrorSection
from surefoot.render.method import MethodSection
from surefoot.render.slice_section import SliceSection
from surefoot.render.value_section import ValueSection
from surefoot.render.verdict_section import VerdictSection

_SECTIONS = (VerdictSection, ErrorSection, SliceSection, ValueSection, MethodSection)


def report(a: Assessment) -> str:
    """The whole page."""
    context: dict[str, Any] = {}
    for section in _SECTIONS:
        context |= section(a, _markup()).context()
    return page("report.html.jinja", **context)


def page(template: str, **context: Any) -> str:
    """A template of this package, filled; every string is escaped but what this package drew itself."""
    markup = _markup()
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    folder = files("surefoot.render") / "page"

    def text(name: str) -> str:
        return (folder / name).read_text(encoding="utf-8")

    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(text))
    drawn = {"css": markup(text("report.css")), "js": markup(text("report.js"))}
    return environment.get_template(template).render(**drawn, **context)


def _markup() -> Any:
    try:
        from markupsafe import Markup
    except ImportError as error:
        raise MissingPackage("the report needs Jinja: pip install jinja2.") from error
    return Markup
