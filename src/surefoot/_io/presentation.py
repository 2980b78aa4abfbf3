"""How a result is shown: by `surefoot.render`, which is loaded when somebody looks.

Results know that they can be shown, and not how: everything that is read by people is written above them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def present(medium: str, kind: str, subject: Any, **options: Any) -> Any:
    """What a function of `surefoot.render`, named by its module and itself, makes of a result."""
    return getattr(import_module(f"surefoot.render.{medium}"), kind)(subject, **options)
