"""Check the links of a built site: ``python docs/check_links.py FOLDER``.

A link inside the site must lead to a file and, after #, to an element of it. A link
to elsewhere must be a well- formed address; it is not visited. Nothing but links may
point elsewhere: no script, style, font, picture or frame.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser loads by itself.
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}


class _Page(HTMLParser):
    """The ids of a page, its links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        if tag == "link" and found.get("rel") not in (
            "canonical",
            "next",
            "prev",
            "search",
            "index",
        ):
            self.loaded.add(found.get("href", ""))
        if tag in LOADED and LOADED[tag] in found:
            self.loaded.add(found[LOADED[tag]])


def problems_of(site: Path) -> list[str]:
    """What is wrong, one line each."""
    # _static holds a template of the theme's, which is no page
    files = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    pages = {path.resolve(): _Page(path.read_text()) for path in files}
    found = []
    for path, page in sorted(pages.items()):
        name = path.relative_to(site.resolve())
        found += [
            f"{name}: loads {target}"
            for target in sorted(page.loaded)
            if urlsplit(target).netloc
        ]
        targets = page.links | {
            target for target in page.loaded if not urlsplit(target).netloc
        }
        for target in sorted(targets):
            problem = _problem(target, path, pages)
            found += [f"{name}: {target}: {problem}"] if problem else []
    return found


def _problem(target: str, path: Path, pages: dict[Path, _Page]) -> str:
    parts = urlsplit(target)
    if parts.scheme in ("mailto", "data"):
        return ""
    if parts.scheme or parts.netloc:
        return (
            ""
            if parts.scheme in ("http", "https") and "." in parts.netloc
            else "not an address"
        )
    place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not place.exists():
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and place in pages and anchor not in pages[place].ids:
        return "no such place on that page"
    return ""


if __name__ == "__main__":
    wrong = problems_of(Path(sys.argv[1]))
    print("\n".join(wrong) or "all links lead somewhere")
    sys.exit(1 if wrong else 0)
