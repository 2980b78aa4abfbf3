"""Code on pages is run when the site is built.

Every ``python`` block of a page runs, in order and in one namespace. What it prints
and draws follows it on the page. The role ``{value}`` puts the value of an expression
into the text: ``{value}`score:.3f```. So no number on a page is typed by hand. The
tests run the same blocks with :func:`run_page`.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: A block to run: ``python`` for readers of the file, ``{run}`` where an option is needed (``:hide:`` shows no code).
BLOCK = re.compile(
    r"^(?P<indent>[ ]*)```(?:python|\{run\})\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
VALUE = re.compile(r"\{value\}`(?P<expression>[^`]+)`")
OPTION = re.compile(r"^:(\w+):.*\n", re.MULTILINE)
_FORMAT = re.compile(r"^(?P<expression>.+?)(?::(?P<format>[^:'\"\]\[(){}]+))?$")


@dataclass
class Output:
    """What a block printed, and the figures it left open."""

    text: str
    figures: list[Any] = field(default_factory=list)


class Page:
    """The namespace of one page, and the empty folder in which its code runs."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.figures = 0

    def run(self, code: str) -> Output:
        """Run a block. A last line that names a value prints it; what a call returns is not printed."""
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot

        tree = ast.parse(code)
        last = (
            tree.body.pop()
            if tree.body and isinstance(tree.body[-1], ast.Expr)
            else None
        )
        printed = io.StringIO()
        with self._inside(), contextlib.redirect_stdout(printed):
            exec(compile(tree, self.name, "exec"), self.namespace)
            if last is not None:
                value = eval(
                    compile(ast.Expression(last.value), self.name, "eval"),
                    self.namespace,
                )
                if value is not None and not isinstance(last.value, ast.Call):
                    print(repr(value))
        figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
        return Output(printed.getvalue(), figures)

    def value(self, text: str) -> str:
        """The text of an expression and an optional format after a colon."""
        match = _FORMAT.match(text)
        assert match is not None
        with self._inside():
            return format(
                eval(match["expression"], self.namespace), match["format"] or ""
            )

    @contextlib.contextmanager
    def _inside(self) -> Iterator[None]:
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                warnings.simplefilter("ignore", FutureWarning)
                yield
        finally:
            os.chdir(before)


def run_page(text: str, name: str, folder: Path) -> Page:
    """Run all blocks and values of a page's Markdown, in the order in which they stand."""
    page = Page(name, folder)
    found = [*BLOCK.finditer(text), *VALUE.finditer(text)]
    for match in sorted(found, key=lambda match: match.start()):
        if match.re is VALUE:
            page.value(match["expression"])
        else:
            page.run(code_of(match))
            close_figures()
    return page


def code_of(match: re.Match[str]) -> str:
    """The code of a block, without its options and its indentation."""
    lines = match["body"].splitlines()
    body = "\n".join(line.removeprefix(match["indent"]) for line in lines)
    return OPTION.sub("", body) if "{run}" in match[0] else body


def close_figures() -> None:
    """Close what a block has drawn."""
    from matplotlib import pyplot

    pyplot.close("all")


def setup(app: Any) -> dict[str, Any]:
    """Register the directive and the role with Sphinx."""
    from docutils import nodes
    from docutils.parsers.rst import directives
    from sphinx.util.docutils import SphinxDirective, SphinxRole

    pages: dict[str, Page] = {}

    def begin(app: Any, docname: str, source: list[str]) -> None:
        folder = Path(app.doctreedir) / "run" / docname
        folder.mkdir(parents=True, exist_ok=True)
        pages[docname] = Page(docname, folder)
        if Path(app.env.doc2path(docname)).suffix == ".md":
            source[0] = re.sub(
                r"^([ ]*)```python$", r"\1```{run}", source[0], flags=re.MULTILINE
            )

    class Run(SphinxDirective):
        has_content = True
        option_spec = {"hide": directives.flag, "width": directives.unchanged}  # noqa: RUF012

        def run(self) -> list[nodes.Node]:
            code = "\n".join(self.content)
            page = pages[self.env.docname]
            try:
                output = page.run(code)
            except Exception as error:
                raise self.error(
                    f"the block failed: {type(error).__name__}: {error}"
                ) from error
            shown: list[nodes.Node] = []
            if "hide" not in self.options:
                shown.append(
                    nodes.literal_block(code, code, language="python", classes=["run"])
                )
            if output.text:
                text = output.text.rstrip("\n")
                shown.append(
                    nodes.literal_block(text, text, language="text", classes=["output"])
                )
            shown += [self.draw(figure, page) for figure in output.figures]
            close_figures()
            return shown

        def draw(self, figure: Any, page: Page) -> nodes.Node:
            page.figures += 1
            folder = Path(self.env.srcdir) / "_drawn"
            folder.mkdir(exist_ok=True)
            name = f"{page.name.replace('/', '-')}-{page.figures}.png"
            figure.savefig(folder / name, dpi=144)
            title = next(
                (
                    axes.get_title(loc)
                    for axes in figure.axes
                    for loc in ("left", "center")
                ),
                "",
            )
            return nodes.image(
                uri=f"/_drawn/{name}",
                alt=title or "Figure",
                classes=["drawn"],
                width=self.options.get("width", "100%"),
            )

    class Value(SphinxRole):
        def run(self) -> tuple[list[nodes.Node], list[Any]]:
            try:
                return [nodes.Text(pages[self.env.docname].value(self.text))], []
            except Exception as error:
                message = self.inliner.reporter.error(
                    f"{{value}}`{self.text}` failed: {error}", line=self.lineno
                )
                return [], [message]

    app.connect("source-read", begin)
    app.add_directive("run", Run)
    app.add_role("value", Value())
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
