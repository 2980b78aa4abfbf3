"""SQL that only reads: one statement, told by its words, and names in quotes."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""(?P<skip>\s+|--[^\n]*|/\*.*?\*/)"""
    r"""|(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"""
    r"""|(?P<word>\w+)|(?P<open>\()|(?P<close>\))|(?P<end>;)|(?P<other>[^'"`])""",
    re.DOTALL,
)


def quoted(*names: str) -> str:
    """A name as SQL writes it, whatever it holds.

    Examples
    --------
    >>> quoted("main", 'a"b')
    '"main"."a""b"'
    """
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def checked_query(query: str) -> str:
    """A query without the semicolon at its end; raise ``ValueError`` with what is wrong if it may do more than read.

    Examples
    --------
    >>> checked_query("select 1;")
    'select 1'
    """
    at, depth, end, first = 0, 0, -1, ""
    while at < len(query):
        found = _TOKEN.match(query, at)
        if found is None or (query.startswith("/*", at) and found.lastgroup != "skip"):
            raise ValueError("a quote or a comment in it is not closed")
        kind, start, at = found.lastgroup, at, found.end()
        if kind == "skip":
            continue
        if end >= 0 and kind != "end":
            raise ValueError("it holds more than one statement; give one")
        if not first and kind not in ("open", "end"):
            first = found.group().lower()
        depth += (kind == "open") - (kind == "close")
        if depth < 0:
            break
        if kind == "end" and end < 0:
            end = start
    if depth:
        raise ValueError("its brackets do not match")
    if first not in ("select", "with"):
        raise ValueError("it should start with SELECT or WITH; nothing else is run")
    return query if end < 0 else query[:end]
