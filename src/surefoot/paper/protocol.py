"""The protocols that models are trained by, and how much is searched: what the page has to say of either is here."""

from __future__ import annotations

from dataclasses import dataclass

#: Rounds at most, and rounds without gain after which training stops, as the paper states them.
ROUNDS, PATIENCE = 2000, 30
#: The split on which parameters were searched that serve every split.
FIRST = 42
#: Sets that are as in the paper: all rows, a random test part, five splits. Only these make up the headline.
COMPARABLE = (
    "breast_cancer", "diabetes", "liver", "phishing", "obesity",
    "accelerometer", "naticusdroid", "wine", "bank_marketing", "credit",
)  # fmt: skip
#: Of these, the sets of fewer than a thousand rows.
SMALL = ("breast_cancer", "diabetes", "liver")
#: Images, of which one training takes minutes: one setting by hand, and so many rounds at most.
FIXED = {
    "mnist": ({"max_depth": 6, "eta": 0.3, "subsample": 0.8, "colsample_bytree": 0.5}, 100),
    "cifar10": ({"max_depth": 6, "eta": 0.3, "subsample": 0.8, "colsample_bytree": 0.5}, 40),
}
#: A set of which one training takes minutes: the parameters of the first split for all, so many rounds at most.
CAPPED = {"covertype": 400}
#: Rows that the models of large sets are trained on.
ROWS = {"covertype": 40_000, "mnist": 15_000, "cifar10": 7_500}
#: Sets that run on fewer rows or trials than in the paper: none of their cells is in the headline.
SMALLER = ("higgs_boson", "covertype", "mnist", "cifar10")


@dataclass(frozen=True)
class Protocol:
    """How a final model comes about."""

    name: str
    #: Whether each split has a search of its own; else all have the one of the first split.
    searches_each: bool
    #: Whether training stops early by the validation part; else after the mean round of cross-validation.
    stops_early: bool
    is_weighted: bool = True

    def words(self) -> str:
        """What distinguishes it, for a table."""
        search = "one search a split" if self.searches_each else f"one search, on split {FIRST}"
        stop = "stopped early on the validation part" if self.stops_early else "mean round of cross-validation"
        return f"{search}; {stop}" + ("" if self.is_weighted else "; no class weights")


#: The protocol of the page, and what else was tried on the same splits.
PROTOCOLS = {
    one.name: one
    for one in (
        Protocol("page", searches_each=True, stops_early=True),
        Protocol("one-search", searches_each=False, stops_early=True),
        Protocol("mean-round", searches_each=False, stops_early=False),
        Protocol("unweighted", searches_each=False, stops_early=True, is_weighted=False),
    )
}
PAGE, ONE_SEARCH, MEAN_ROUND, UNWEIGHTED = PROTOCOLS.values()


@dataclass(frozen=True)
class Budget:
    """How much is searched, and on how many splits the result is looked at."""

    trials: int = 8
    folds: int = 5
    seeds: tuple[int, ...] = (42, 0, 1, 2, 3)

    def seeds_of(self, name: str) -> tuple[int, ...]:
        """The splits of a set: the first two of those that run on fewer rows or trials, of CIFAR-10 the first."""
        return self.seeds[:1] if name == "cifar10" else self.seeds[:2] if name in SMALLER else self.seeds

    def trials_of(self, name: str) -> int:
        """Trials of each search: six times as many where one takes a fraction of a second."""
        return 6 * self.trials if name in SMALL else self.trials

    @classmethod
    def fast(cls) -> Budget:
        """Enough to see the machinery run."""
        return cls(3, 3, (FIRST,))


def most_rounds(name: str) -> int:
    """Rounds of a set's final model at most."""
    return FIXED[name][1] if name in FIXED else CAPPED.get(name, ROUNDS)
