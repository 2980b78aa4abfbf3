"""Which column is what: told by the user, or found by name where only one reading is possible."""

from __future__ import annotations

import difflib
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from surefoot._io.printable import printable
from surefoot.errors import InvalidPredictions
from surefoot.files.columns import NAMES, Columns, each_of, plain
from surefoot.files.damage import check_names
from surefoot.files.stated import number_alone, stated, with_numbers
from surefoot.files.types import is_text_type, type_of_values
from surefoot.predictions.attempts import GRADES, NO, OUTCOMES, YES, word

if TYPE_CHECKING:
    import pyarrow as pa

#: What graders call outcomes in words, besides the names of correctness.
_GRADES = "grade grades graded gradelabel grading outcome score result verdict judgement judgment"
_LISTS = "probabilities probs prob proba probas probability yprob yprobs yproba predictproba softmax scores predprobs p"
_SINGLES = "predictedprobability probability prob proba yprob yproba yscore p1 score p probs probabilities"
_LOGITS = "logits logit"
#: What the outcome and its probability are called besides, where rows are about an event.
_OF_EVENTS = {"truth": "outcome event died death default", "probabilities": "risk predictedrisk pd"}
#: What holds the answer of a model, in which it may state its confidence.
_TEXTS = "response output completion answer text content modelresponse modeloutput generation modelanswer reply"
#: Log-probabilities of an answer: of all its tokens, else their mean.
_LOG_PROBABILITIES = (
    "logprob logprobsum sumlogprob sumlogprobs totallogprob cumulativelogprob sequencelogprob logprobability "
    "logprobmean meanlogprob meanlogprobs avglogprob averagelogprob"
)
#: Roles that are enough to measure by.
_COMPLETE = (
    *({"truth", scores} for scores in ("probabilities", "logits")),
    *({"correct", claim} for claim in ("confidence", "doubt")),
    *({"truth", "predicted", claim} for claim in ("confidence", "doubt")),
)
#: Outcomes that are a letter.
_LETTERS = {one for one in GRADES if len(one) == 1}
_PREFIX = re.compile(r"^((?:p|prob|proba|probs|probability|probabilities|softmax)(?:[_ .\-]|(?=\d)))(?=.)", re.I)


class Ambiguous(InvalidPredictions):
    """More than one reading is possible; the user has to say which."""


class _NotFound(Ambiguous):
    """No column is called like what is needed."""


def find_columns(name: str, head: pa.Table, given: Mapping[str, Any], *, is_event: bool = False) -> Columns:
    """The columns of a file by what the user says, and where nothing is said by their names.

    ``head`` are some rows, to tell a column of P(second label) from one of confidence, and identifiers from labels.
    """
    given = {role: value for role, value in given.items() if value is not None}
    if is_event:
        return _find_event(name, head, given)
    try:
        return _Finder(name, head, given).found()
    except _NotFound as error:
        raise error.at(hint=_event_hint(name, head, given)) from None


def _find_event(name: str, head: pa.Table, given: dict[str, Any]) -> Columns:
    """The columns of a file whose rows are about an event."""
    finder = _Finder(name, head, given)
    finder.names = _OF_EVENTS
    return finder.found()


def _event_hint(name: str, head: pa.Table, given: dict[str, Any]) -> str:
    """What to type if columns are called like an event and its probability; empty if they are not."""
    instead = ""
    if "truth" in given and "confidence" in given and "probabilities" not in given:
        given, instead = {"truth": given["truth"], "probabilities": given["confidence"]}, " instead"
    try:
        found = _find_event(name, head, given)
    except Ambiguous:
        return ""
    truth, risk = found.truth, found.probabilities
    if not isinstance(truth, str) or not isinstance(risk, str):
        return ""
    command = _options(truth=truth, probabilities=risk)
    said = f"if '{printable(risk)}' is the probability of '{printable(truth)}', pass {command}{instead}"
    return f"{said} (to assess it as a risk model, --of event too)"


def find_scores(name: str, head: pa.Table, given: Mapping[str, Any]) -> str | tuple[str, ...]:
    """The columns of probabilities or logits alone, of a file that need not hold the truth."""
    finder = _Finder(name, head, {role: value for role, value in given.items() if value is not None})
    return finder.scores()


def find_unlabelled(name: str, head: pa.Table, given: Mapping[str, Any]) -> Columns:
    """The columns of a file without labels: probabilities or logits, else confidences, and what was predicted."""
    return _Finder(name, head, {role: value for role, value in given.items() if value is not None}).without_labels()


def are_complete(roles: Collection[str]) -> bool:
    """Whether all that is needed was named."""
    return any(needed <= set(roles) for needed in _COMPLETE)


class _Finder:
    def __init__(self, name: str, head: pa.Table, given: dict[str, Any]) -> None:
        import pyarrow.types as kinds

        self.name, self.head, self.kinds = name, with_numbers(head), kinds
        self.columns = list(head.column_names)
        check_names(name, self.columns)
        #: Names of roles besides those that are known.
        self.names: Mapping[str, str] = {}
        self.taken: dict[str, Any] = {}
        for role, column in given.items():
            self.taken[role] = self._told(role, column)

    # -- what the user says ------------------------------------------------------------------------------------------

    def _told(self, role: str, column: Any) -> Any:
        if column in self.columns:
            return column
        if role in ("probabilities", "logits"):
            family = list(column) if isinstance(column, list | tuple) else self._with_prefix(column)
            missing = next((c for c in family if c not in self.columns), None)
            if missing is None and len(family) >= 2:
                return tuple(family)
            column = column if missing is None else missing
        close = difflib.get_close_matches(str(column), self.columns, 1)
        hint = f"did you mean '{printable(close[0])}'?" if close else self._there()
        raise Ambiguous(f"there is no column '{printable(str(column))}' for {role}; {hint}", file=self.name)

    def _with_prefix(self, prefix: str) -> list[str]:
        others = {value for value in self.taken.values() if isinstance(value, str)}
        return [c for c in self.columns if c.startswith(prefix) and c != prefix and c not in others]

    # -- what names say ----------------------------------------------------------------------------------------------

    def found(self) -> Columns:
        named = {role for role in self.taken if role not in ("weight", "attempted")}
        if are_complete(named):
            # all that is needed was named: a column that nobody named does not change the numbers
            return Columns(**self.taken)
        if "weight" not in self.taken:
            self._by_name("weight", self._is_weight)
        self._by_name("attempted", self._is_flag)
        if "attempted" in self.taken and self._is_flag(self.taken["attempted"]):
            # on the other rows columns may hold anything
            attempted = [_is_yes(value) for value in self.head.column(self.taken["attempted"]).to_pylist()]
            self.head = self.head.filter(attempted) if any(attempted) else self.head
        if not named & {"correct", "confidence", "doubt"}:
            self._scores()
        if "probabilities" not in self.taken and "logits" not in self.taken:
            self._claims(named)
        else:
            self._labels(named)
        return Columns(**self.taken)

    def scores(self) -> str | tuple[str, ...]:
        self._scores()
        found: str | tuple[str, ...] | None = self.taken.get("logits") or self.taken.get("probabilities")
        if found is None:
            raise Ambiguous(
                f"no column is called like probabilities; name them with --probabilities or --logits; {self._there()}",
                file=self.name,
            )
        return found

    def without_labels(self) -> Columns:
        if not self.taken.keys() & {"confidence", "doubt"}:
            self._scores()
        if not self.taken.keys() & {"probabilities", "logits", "confidence", "doubt"}:
            self._by_name("confidence", self._is_claim)
            if "confidence" not in self.taken:
                self._by_name("doubt", self._is_number)
        if not self.taken.keys() & {"probabilities", "logits", "confidence", "doubt"}:
            raise Ambiguous(
                "no column of confidences or probabilities was detected; name it with --confidence, --probabilities or "
                f"--logits; {self._there()}",
                file=self.name,
            )
        self._by_name("predicted", self._is_label)
        return Columns(**self.taken)

    def _scores(self) -> None:
        """Probabilities or logits of all classes, or P(second label)."""
        if "probabilities" in self.taken or "logits" in self.taken:
            return
        for role, names in (("logits", _LOGITS), ("probabilities", _LISTS)):
            lists = [c for c in self._free() if plain(c) in names.split() and self._is_list(c)]
            if len(lists) > 1:
                raise self._which(role, lists)
            if lists:
                self.taken[role] = lists[0]
                return
        logits = [c for c in self._free() if re.match(r"logits?[_ .\-]", c, re.I) and self._is_float(c)]
        if len(logits) >= 2:
            self.taken["logits"] = tuple(logits)
            return
        families: dict[str, list[str]] = {}
        for column in self._free():
            match = _PREFIX.match(column)
            if match and self._is_float(column):
                families.setdefault(match[1], []).append(column)
        whole = [family for family in families.values() if len(family) >= 2 and self._adds_up(family)]
        if len(whole) > 1:
            raise self._which("probabilities", [family[0] for family in whole])
        if whole:
            self.taken["probabilities"] = tuple(whole[0])
            return
        # one of several columns of a kind is not the only one
        several = {column for family in families.values() if len(family) >= 2 for column in family}
        known = [*_SINGLES.split(), *self.names.get("probabilities", "").split()]
        singles = [c for c in self._free() if plain(c) in known and self._is_float(c) and c not in several]
        if singles and not self._named("confidence"):
            if len(singles) > 1:
                raise self._which("probabilities", singles)
            self._single(singles[0])

    def _single(self, column: str) -> None:
        """One column of probabilities: of the second label, or of the predicted one? The rows tell, or the user."""
        self._by_name("predicted", self._is_label)
        predicted = self.taken.get("predicted")
        if predicted is None:
            self.taken["probabilities"] = column
            return
        values, guesses = self._shares(column), self._values(predicted)
        labels = sorted(set(guesses), key=lambda x: (str(type(x)), x))
        as_second = len(labels) == 2 and all(
            (p > 0.5) == (g == labels[1]) or p == 0.5 for p, g in zip(values, guesses, strict=True)
        )
        # of one predicted label it cannot be told which of two it is
        as_stated = all(p >= 0.5 for p in values) or len(labels) > 2
        if as_second == as_stated:
            raise Ambiguous(
                f"'{printable(column)}' could be the confidence in '{printable(predicted)}' or "
                "the probability of the second label; pass --confidence or --probabilities",
                file=self.name,
            )
        self.taken["probabilities" if as_second else "confidence"] = column

    def _claims(self, named: set[str]) -> None:
        if "doubt" not in self.taken:
            self._by_name("confidence", self._is_claim)
        if "confidence" not in self.taken:
            self._by_name("doubt", self._is_number)
        if "confidence" not in self.taken and "doubt" not in self.taken:
            self._spoken()
        if "confidence" not in self.taken and "doubt" not in self.taken:
            raise _NotFound(
                f"no column of confidences was detected; name it with --confidence, "
                f"--probabilities or --logits; {self._there()}",
                file=self.name,
            )
        if "correct" in named:
            return
        if not {"truth", "predicted"} & named and self._graded():
            return
        self._labels(named, needed=False)
        if {"truth", "predicted"} <= set(self.taken) and not {"truth", "predicted"} & named:
            self._outcomes_beside_labels(self.taken["truth"], self.taken["predicted"])
        elif not {"truth", "predicted"} <= set(self.taken):
            if not {"truth", "predicted"} & named:
                self._by_name("correct", self._is_outcome)
            if "correct" not in self.taken:
                missing = "truth" if "predicted" in self.taken else "predicted"
                other = "" if {"truth", "predicted"} & named else ", or --correct"
                called = {"truth": "true"}.get(missing, missing)
                raise _NotFound(
                    f"no column of {called} labels was detected; name it with --{missing}{other}; {self._there()}",
                    file=self.name,
                )
            self.taken.pop("truth", None)
            self.taken.pop("predicted", None)

    def _spoken(self) -> None:
        """A confidence that is stated in answers, or the log-probability of an answer."""
        for name in _LOG_PROBABILITIES.split():
            for column in self._free():
                if _leaf(column) == name and self._is_number(column) and all(v <= 0 for v in self._values(column)):
                    self.taken["confidence"] = column
                    return
        texts = [c for c in self._free() if _leaf(c) in _TEXTS.split() and self._states_confidence(c)]
        if len(texts) > 1:
            raise self._which("confidence", texts)
        if texts:
            self.taken["confidence"] = texts[0]

    def _states_confidence(self, column: str) -> bool:
        return speaks(self._values(column))

    def _graded(self) -> bool:
        """Take a column of outcomes in words, if there is one: labels would not tell a refusal from an error."""
        names = [*NAMES["correct"].split(), *_GRADES.split()]
        graded = [c for c in self._free() if plain(c) in names and self._is_grade(c)]
        graded = graded or [c for c in self._free() if _leaf(c) in names and self._is_grade(c)]
        graded = [c for c in graded if plain(c) == names[0]] or graded
        if len(graded) > 1:
            raise self._which("correct", graded)
        if graded:
            self.taken["correct"] = graded[0]
        return bool(graded)

    def _outcomes_beside_labels(self, truth: str, predicted: str) -> None:
        """A column that says which rows are correct: it is taken where answers stand, and must agree with labels.

        An answer may be right in other words than the reference, so that only whoever graded it knows; an equal one is.
        """
        told = [c for c in self._named("correct") if self._is_outcome(c) and self._values(c)]
        is_worded = is_answer(predicted) and {type(v) for c in (truth, predicted) for v in self._values(c)} == {str}
        if is_worded and not told:
            told = [c for c in self._free() if _leaf(c) in _GRADES.split() and self._is_outcome(c) and self._values(c)]
        if is_worded and len(told) > 1:
            raise self._which("correct", told)
        labels = [self.head.column(name).to_pylist() for name in (truth, predicted)]
        for column in told:
            rows = [row for row in zip(self.head.column(column).to_pylist(), *labels, strict=True) if None not in row]
            if any(bool(right) != (one == other) and not (is_worded and right) for right, one, other in rows):
                raise Ambiguous(
                    f"'{printable(column)}' and a comparison of '{printable(truth)}' with '{printable(predicted)}' "
                    f"differ; say which counts with {_options(correct=column)} or "
                    f"{_options(truth=truth, predicted=predicted)}",
                    file=self.name,
                )
        if is_worded and told:
            del self.taken["truth"], self.taken["predicted"]
            self.taken["correct"] = told[0]

    def _labels(self, named: set[str], needed: bool = True) -> None:
        self._by_name("predicted", self._is_label)
        self._by_name("truth", self._is_label)
        if "truth" not in self.taken and "predicted" in self.taken and not (self._named("correct") and not needed):
            self._truth_by_elimination()
        if needed and "truth" not in self.taken:
            other = ", or --correct and --confidence" if self._named("correct") else ""
            raise _NotFound(
                f"no column of true labels was detected; name it with --truth{other}; {self._there()}",
                file=self.name,
            )

    def _truth_by_elimination(self) -> None:
        """No name says it, but one column only holds the labels that are predicted."""
        guesses = self._values(self.taken["predicted"])
        kinds = {type(g) for g in guesses}
        alike = []
        for column in self._free():
            if self._is_label(column):
                values = self._values(column)
                if {type(v) for v in values} <= kinds and set(values) <= set(guesses) and len(set(values)) > 1:
                    alike.append(column)
        if len(alike) > 1:
            raise self._which("truth", alike)
        if alike:
            self.taken["truth"] = alike[0]

    def _by_name(self, role: str, fits: Any) -> None:
        if role in self.taken:
            return
        fitting = [c for c in self._named(role) if fits(c)]
        if len(fitting) > 1:
            raise self._which(role, fitting)
        if fitting:
            self.taken[role] = fitting[0]

    def _named(self, role: str) -> list[str]:
        """The columns whose name says this role; one called exactly like it stands before all others."""
        names = [*NAMES[role].split(), *self.names.get(role, "").split()]
        alike = [c for c in self._free() if plain(c) in names] or [c for c in self._free() if _leaf(c) in names]
        exact = [c for c in alike if plain(c) == names[0]]
        return exact[:1] or alike

    def _which(self, role: str, columns: Sequence[str]) -> Ambiguous:
        listed = " or ".join(f"'{printable(c)}'" for c in columns[:4])
        return Ambiguous(f"{role} could be {listed}; say which with --{role}", file=self.name)

    # -- what columns hold -------------------------------------------------------------------------------------------

    def _free(self) -> list[str]:
        used = {name for role in self.taken.values() for name in each_of(role)}
        return [c for c in self.columns if c not in used]

    def _values(self, column: str) -> list[Any]:
        return [v for v in self.head.column(column).to_pylist() if v is not None]

    def _type(self, column: str) -> Any:
        return type_of_values(self.head.schema.field(column).type)

    def _is_list(self, column: str) -> bool:
        kind = self._type(column)
        return bool(self.kinds.is_list(kind) or self.kinds.is_large_list(kind) or self.kinds.is_fixed_size_list(kind))

    def _is_float(self, column: str) -> bool:
        """Whether a column holds probabilities: fractions, or whole percentages."""
        if self.kinds.is_integer(self._type(column)):
            values = self._values(column)
            return max(values, default=0) > 1 and all(0 <= value <= 100 for value in values)
        return bool(self.kinds.is_floating(self._type(column)))

    def _shares(self, column: str) -> list[float]:
        """Probabilities from 0 to 1."""
        values = self._values(column)
        return [value / 100 for value in values] if max(values, default=0) > 1 else values

    def _is_number(self, column: str) -> bool:
        kind = self._type(column)
        return bool(self.kinds.is_floating(kind) or self.kinds.is_integer(kind))

    def _is_weight(self, column: str) -> bool:
        """Numbers, if only some: what is none is refused later, and not left out with all others."""
        if self._is_number(column) or self.kinds.is_run_end_encoded(self._type(column)):
            return True
        return any(isinstance(value, str) and number_alone(value) is not None for value in self._values(column))

    def _is_claim(self, column: str) -> bool:
        """A confidence may be said in words ("85%"), and is refused later if it is."""
        return not self._is_list(column)

    def _is_label(self, column: str) -> bool:
        kind = self._type(column)
        if self.kinds.is_floating(kind):
            values = self._values(column)
            return bool(values) and all(v == int(v) for v in values if v == v and abs(v) < 1e15)
        return bool(self.kinds.is_boolean(kind) or self.kinds.is_integer(kind) or is_text_type(kind))

    def _is_outcome(self, column: str) -> bool:
        return self.kinds.is_boolean(self._type(column)) or all(value in (0, 1) for value in self._values(column))

    def _is_grade(self, column: str) -> bool:
        """Outcomes in words; a value that is none is refused later, with its row."""
        values = self._values(column)
        words = {word(value) if isinstance(value, str) else None for value in values}
        if _leaf(column) in NAMES["correct"].split() and words & {*OUTCOMES}:
            return True
        return bool((words - _LETTERS) & {*GRADES}) or bool(words and words <= _LETTERS)

    def _is_flag(self, column: str) -> bool:
        """Yes and no; a text that is neither is refused later, with its row, and not left out with all others."""
        values = self._values(column)
        if values and all(isinstance(value, str) for value in values):
            return not {word(value) for value in values}.isdisjoint({*YES, *NO})
        return bool(values) and self._is_outcome(column)

    def _adds_up(self, family: list[str]) -> bool:
        rows = zip(*(self.head.column(c).to_pylist() for c in family), strict=True)
        return any(None not in row and min(abs(sum(row) - 1), abs(sum(row) - 100) / 100) < 0.02 for row in rows)

    def _there(self) -> str:
        listed = ", ".join(f"'{printable(c)}'" for c in self.columns[:8])
        more = f" and {len(self.columns) - 8} more" if len(self.columns) > 8 else ""
        return f"the columns are {listed}{more}"


def _options(**columns: str) -> str:
    """Options of the command line that name columns."""
    return shlex.join(word for role, column in columns.items() for word in (f"--{role}", printable(column)))


def is_answer(column: str) -> bool:
    """Whether a column is called like the answers of a model, of which some may be numbers."""
    return _leaf(column) in _TEXTS.split()


def speaks(values: Sequence[Any]) -> bool:
    """Whether half of some texts or more state a confidence, and are more than a number: "4" is an answer."""
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    spoken = [text for text in texts if number_alone(text) is None and stated(text) is not None]
    return bool(texts) and 2 * len(spoken) >= len(texts)


def _is_yes(value: Any) -> bool:
    return word(value) in YES if isinstance(value, str) else value is None or bool(value)


def _leaf(column: str) -> str:
    """The plain name of a value within others, as of judge.confidence."""
    return plain(column.rpartition(".")[2] or column)
