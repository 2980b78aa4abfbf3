"""Compiled kernels, kept across processes in a folder that belongs to the user alone.

Where no such folder can be had, no kernel is compiled at all and NumPy does the work.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot._io.writing import write_whole
from surefoot.engines.kernel_folder import Unsafe, discard, in_turn, is_sealed, kernel_folder, seal

if TYPE_CHECKING:
    from pathlib import Path

#: What the source calls ``run``: a compiled function, or several.
Kernel = Any

_lock = threading.RLock()
_kernels: dict[tuple[str, str], Kernel] = {}
_writers: dict[str, Any] = {}
#: Whether a thread is compiling; and whether this process never may, for it was forked from one that was.
_busy = False
_off = False


def writer(module: str) -> Any:
    """A module that writes kernels, loaded when first needed; None in a process that never compiles."""
    global _busy
    if _off:
        return None
    # not looked up in sys.modules, where a module stands before it is whole
    if module not in _writers:
        with _lock:
            _busy = True
            try:
                _writers[module] = import_module(f"surefoot.engines.{module}")
            finally:
                _busy = False
    return _writers[module]


def is_loaded(source: str, types: str) -> bool:
    """Whether this process has the kernel, compiled for these types, already."""
    return not _off and _kernels.get((source, types)) is not None


def compile_kernel(source: str, types: str, try_out: Callable[[Kernel], object]) -> Kernel:
    """The ``run`` of this source, compiled; None where no folder for compiled code can be had.

    ``try_out`` calls it on no rows, with arrays of the ``types`` that are meant: so that it is compiled here, where a
    damaged cache can be thrown away, and a fork meanwhile is known of.
    """
    global _busy
    if _off:
        return None
    wanted = (source, types)
    if wanted not in _kernels:
        with _lock:
            if wanted not in _kernels:
                _busy = True
                try:
                    _kernels[wanted] = _load_or_discard(source, try_out)
                finally:
                    _busy = False
    return _kernels[wanted]


def _load_or_discard(source: str, try_out: Callable[[Kernel], object]) -> Kernel:
    folder = cache_folder()
    if folder is None:
        return None
    name = _name(source)
    for _ in range(2):
        try:
            with in_turn(folder, name):
                if not is_sealed(folder, name):
                    _say(f"throwing away compiled code in {folder} that is not as it was written")
                    discard(folder, name)
                kernel = _load(source, name, folder)
                try_out(kernel)
                seal(folder, name)
        except Exception as error:  # whatever unpickling a damaged file may raise
            _say(f"throwing away compiled code in {folder} that cannot be used: {error}")
            discard(folder, name)
        else:
            return kernel
    _log_refusal("no compiled code can be had")
    return None


def cache_folder() -> Path | None:
    """The folder for kernels, made if need be; None if others could have written to it, or nobody can."""
    try:
        return kernel_folder()
    except Unsafe as error:
        _log_refusal(str(error))
    except (OSError, RuntimeError) as error:
        _log_refusal(f"no folder for compiled code: {error}")
    return None


def _log_refusal(why: str) -> None:
    _say(f"{why}; NumPy does the work, more slowly")


def _say(what: str) -> None:
    import logging

    logging.getLogger("surefoot").info(what)


def _name(source: str) -> str:
    import hashlib

    numba: Any = import_module("numba")
    made_with = f"{sys.version} numba {numba.__version__} numpy {np.__version__}"
    return f"surefoot_kernel_{hashlib.sha256(f'{made_with} {source}'.encode()).hexdigest()[:20]}"


def _load(source: str, name: str, folder: Path) -> Kernel:
    from importlib.util import module_from_spec, spec_from_file_location

    numba: Any = import_module("numba")
    path = folder / f"{name}.py"
    if not path.exists() or path.read_text(encoding="utf-8") != source:
        write_whole(path, source)
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Numba finds a cached function again only by a module that can be imported by name
    sys.modules[name] = module
    # and it caches beside the source, in the folder that was checked, only if no other folder is set
    elsewhere, numba.config.CACHE_DIR = numba.config.CACHE_DIR, ""
    try:
        spec.loader.exec_module(module)
    finally:
        numba.config.CACHE_DIR = elsewhere
    return module.run


def _after_fork() -> None:
    """A child forked while a thread compiled has that thread's locks and not the thread: it leaves compiling alone."""
    global _lock, _off
    _lock, _off = threading.RLock(), _off or _busy


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
