"""Compiled kernels, kept across processes in a folder that belongs to the user alone.

Numba's cache is pickle, which runs code when read: whoever can write to the folder runs code in this process. So the
folder must be the user's, with no rights for anyone else, or no kernel is compiled at all and NumPy does the work.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import sys
import threading
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from surefoot.writing import write_whole

#: What the source calls ``run``: a compiled function, or several.
Kernel = Any

_log = logging.getLogger("surefoot")
_lock = threading.Lock()
_kernels: dict[str, Kernel] = {}


def is_loaded(source: str) -> bool:
    """Whether this process has the kernel already."""
    return _kernels.get(source) is not None


def compiled(source: str) -> Kernel:
    """The ``run`` of this source, compiled; None where no folder for compiled code can be had."""
    if source not in _kernels:
        with _lock:
            if source not in _kernels:
                _kernels[source] = _load(source)
    return _kernels[source]


def cache_folder() -> Path | None:
    """The folder for kernels, made if need be; None if it would not be the user's alone, or cannot be written."""
    chosen = os.environ.get("SUREFOOT_CACHE_DIR")
    try:
        if chosen:
            folder = Path(chosen)
        else:
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            folder = Path(base) / "surefoot" / "kernels"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.lstat()
    except (OSError, RuntimeError) as error:
        _refused(f"no folder for compiled code: {error}")
        return None
    if not stat.S_ISDIR(facts.st_mode):
        _refused(f"{folder} is not a folder")
        return None
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o077):
        _refused(f"{folder} is open to others; it should be yours, with mode 700")
        return None
    if not os.access(folder, os.W_OK | os.X_OK):
        _refused(f"{folder} cannot be written")
        return None
    return folder


def _refused(why: str) -> None:
    _log.info("%s; NumPy does the work, more slowly", why)


def _load(source: str) -> Kernel:
    folder = cache_folder()
    if folder is None:
        return None
    made_with = f"{sys.version} numba {version('numba')} numpy {version('numpy')}"
    name = f"surefoot_kernel_{hashlib.sha256(f'{made_with} {source}'.encode()).hexdigest()[:20]}"
    path = folder / f"{name}.py"
    try:
        if not path.exists() or path.read_text(encoding="utf-8") != source:
            write_whole(path, source)
    except OSError as error:
        _refused(f"{path} cannot be written ({error})")
        return None
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Numba finds a cached function again only by a module that can be imported by name
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.run


def _forget_lock() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
