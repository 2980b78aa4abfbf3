"""What goes wrong is told in one line on stderr; never a traceback."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from surefoot._io.masking import masked
from surefoot._io.printable import printable

#: Characters of a message: what came from outside may be of any length.
_MOST = 600


#: Advice of the library, and what does the same on the command line.
_OPTIONS = {
    "use from_logits=True or Predictions.from_logits": "name them with --logits",
    "use Predictions.from_logits": "name them with --logits",
    "use Predictions.from_probabilities": "name them with --probabilities",
    "Logits keep them: Predictions.from_logits, or give doubt=": "Logits keep them: --logits, or --doubt",
    "float32=False (--as-float64)": "--as-float64",
    "pos_label= (on the command line --positive)": "--positive",
    "pos_label=": "--positive",
    "use of='event' with": "use --of event with",
    "by= slices": "--by slices",
    ", and by=": ", and --by",
    ", or give labels=(negative, positive)": "",
}


class Failed(Exception):
    """The command has said what is wrong, and ends with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def print_error(message: str, status: int) -> int:
    """Say what is wrong."""
    in_colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    word = "\x1b[1;31merror:\x1b[0m" if in_colour else "error:"
    print(f"{word} {printable(masked(' '.join(message.split())), _MOST)}", file=sys.stderr)
    return status


def say(text: str = "", *, to_stderr: bool = False) -> None:
    """Print a result, or with ``to_stderr`` what is not part of it."""
    print(text, file=sys.stderr if to_stderr else sys.stdout, flush=True)


def say_failed(reasons: Iterable[str], *, to_stderr: bool) -> None:
    """Print the rules that hold, and end with status 1 if there are any."""
    import textwrap

    from surefoot.render.text import Terminal

    width = min(max(Terminal.detect().width, 50), 88)
    failed = False
    for why in reasons:
        failed = True
        lines = textwrap.wrap(f"failed: {why}", width - 2, subsequent_indent="  ", break_on_hyphens=False)
        say("\n".join(f"  {line}" for line in lines), to_stderr=to_stderr)
    if failed:
        raise Failed(1)


@contextmanager
def clear_errors() -> Iterator[None]:
    """Bad data end the command with status 3, wrong usage with 2; warnings become notes on stderr, each once."""
    from surefoot.errors import (
        InvalidCalibrator,
        InvalidMonitor,
        InvalidPredictions,
        InvalidTally,
        MetricUnavailable,
        MissingPackage,
    )
    from surefoot.files.finding import Ambiguous

    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        except (Ambiguous, MissingPackage) as error:
            raise Failed(print_error(_in_options(str(error)), 2)) from error
        except (InvalidPredictions, InvalidTally, InvalidMonitor, InvalidCalibrator, MetricUnavailable) as error:
            raise Failed(print_error(_in_options(str(error)), 3)) from error
        except MemoryError as error:
            raise Failed(print_error("the rows do not fit into memory", 3)) from error
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise Failed(print_error(f"{where}{error.strerror or error}", 3)) from error
        finally:
            for message in dict.fromkeys(str(w.message) for w in raised if issubclass(w.category, UserWarning)):
                say(f"note: {_in_options(message)}", to_stderr=True)


def _in_options(message: str) -> str:
    """A message of the library in the words of the command line."""
    for argument, option in _OPTIONS.items():
        message = message.replace(argument, option)
    return message
