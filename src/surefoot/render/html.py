"""The report: one HTML file that needs nothing else, with the verdict first and all numbers behind it."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from surefoot.assessment.result import Assessment
from surefoot.core.view import View
from surefoot.errors import MissingPackage
from surefoot.render.error_section import ErrorSection
from surefoot.render.event_method import EventMethodSection
from surefoot.render.event_section import EventFigureSection, EventVerdictSection
from surefoot.render.event_slices import EventSliceSection
from surefoot.render.event_value import EventValueSection
from surefoot.render.method import MethodSection
from surefoot.render.section import Section
from surefoot.render.slice_section import SliceSection
from surefoot.render.value_section import ValueSection
from surefoot.render.verdict_section import VerdictSection

_OF_PREDICTIONS = (VerdictSection, ErrorSection, SliceSection, ValueSection, MethodSection)
_OF_EVENTS = (EventVerdictSection, EventFigureSection, EventSliceSection, EventValueSection, EventMethodSection)
#: By view, the template and the sections that fill it.
_PAGES: dict[View, tuple[str, tuple[type[Section], ...]]] = {
    "prediction": ("report.html.jinja", _OF_PREDICTIONS),
    "event": ("event.html.jinja", _OF_EVENTS),
    "classes": ("event.html.jinja", _OF_EVENTS),
}


def report(a: Assessment) -> str:
    """The whole page."""
    context: dict[str, Any] = {}
    template, sections = _PAGES[a.view]
    for section in sections:
        context |= section(a, _markup()).context()
    return page(template, **context)


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
