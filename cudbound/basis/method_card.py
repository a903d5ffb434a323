"""The description of a registered method, its options, and the kinds of records that it needs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar

from cudbound.basis.exceptions import ParameterError, suggestion
from cudbound.basis.results import Estimand, Words
from cudbound.basis.validation import check_choice, check_number

R = TypeVar("R")


@dataclass(frozen=True, order=True)
class Named:
    """Something that is compared by its name."""

    name: str


@dataclass(frozen=True, eq=False, repr=False)
class RecordKind(Named, Generic[R]):
    """One kind of record; kinds are equal if their names are.

    Attributes
    ----------
    name : str
        Its name in `cudbound.records.Records`, and of its stream of random numbers.
    holds : type
        The class of the record.
    words : str
        What is recorded, for messages.
    holder : str, default=""
        What to pass if it is missing; by default the name of the class.
    refit : callable or None
        ``refit(context)`` returns the record, from the refits of a `cudbound.resampling.settings.RefitContext`.
    record : callable or None
        ``record(inputs, made)`` returns a record that needs more than refits, from `RecordingInputs` of
        `cudbound.resampling.make_records` and the records made before; per family ``record(inputs, target)``, with one
        of its targets; per target ``record(inputs, target, records)``, with the records as the target uses them.
        Without `refit` and `record` it comes with the classifier.
    n_fits : callable or None
        ``n_fits(inputs)``: number of refits, for the progress bar; exact unless draws are redrawn. None without refits.
    after : tuple of RecordKind
        Records that must be made first.
    per : {"call", "family", "target"}
        The unit for which it is made once.
    whole_groups : bool
        Whether rows are resampled in whole groups, or not at all.
    resamples : bool
        Whether rows of the training set are resampled.
    filled_by : callable or None
        ``filled_by(splits)``: whether splits such as the caller's can fill it.
    from_splits : callable or None
        ``from_splits(splits, outputs, remarks)`` returns it for such splits.
    scored : bool
        Whether scores are kept along with losses, if a metric needs them.
    some_fail : bool
        Whether some of its refits may fail.
    of_every_metric : bool
        Whether methods of every metric can read it: it keeps the loss of each row, or is made for each metric, or
        serves all of them. Others keep means over rows of both classes, which no metric can take apart.
    of_model : bool
        Whether it needs the classifier written as an additive model with a convex loss.
    of_search : bool
        Whether the configurations of a search are refitted, and not the classifier.
    of_draws : bool
        Whether it reads the bootstrap draws.
    optional : bool
        Whether methods that need it have a variant without it.
    check : callable or None
        ``check(inputs)`` raises an error if the record of a model cannot be made.
    condition : str
        What `check` asks for, in words.
    """

    holds: type[R]
    words: str
    _: KW_ONLY
    holder: str = ""
    refit: Callable[[Any], R] | None = None
    record: Callable[..., Any] | None = None
    n_fits: Callable[[Any], int] | None = None
    after: tuple[RecordKind[Any], ...] = ()
    per: Literal["call", "family", "target"] = "call"
    whole_groups: bool = False
    resamples: bool = True
    filled_by: Callable[[Any], bool] | None = None
    from_splits: Callable[..., R] | None = None
    scored: bool = False
    some_fail: bool = False
    of_every_metric: bool = False
    of_model: bool = False
    of_search: bool = False
    of_draws: bool = False
    optional: bool = False
    check: Callable[[Any], None] | None = None
    condition: str = ""

    def __repr__(self) -> str:
        return f"RecordKind({self.name!r})"

    @property
    def keeps_groups(self) -> bool:
        """Whether it keeps groups of rows together without a splitter."""
        return self.whole_groups or (self.refit is None and self.record is None)

    @property
    def title(self) -> str:
        """What holds it, for messages."""
        return self.holder or self.holds.__name__

    def missing(self, method: str, output: str = "") -> ValueError:
        """Return the error for records without it, or without its losses or scores."""
        lacking = f"{output} of {self.words}" if output else self.words
        holder = f"{self.title}(..., {output}=...)" if output else self.title
        return ValueError(f"{method} needs {lacking}, not recorded here: pass {holder}.")


#: What the formulas of several methods share, by a pattern that finds it in them.
SYMBOLS = {
    r"\bn\b(?!\*)": "n: rows",
    r"\bd\b": "d: 1 - confidence level",
    r"\bz\(": "z(p): quantile of the normal distribution",
    r"\bt\(": "t(p; v): quantile of t with v degrees of freedom",
    r"\b(lo|up)\(": "lo(r; c), up(r; c): Clopper-Pearson limits for r errors on c cases, d/2 in each tail, also for "
    "fractional r",
    r"\bT\b(?! =)": "T: training error",
    r"\bx\b(?!')": "x: .632 estimate",
    r"\bA_b\b": "A_b: error of the refit to draw b on that draw",
    r"\bD_b\b": "D_b: error of the refit to draw b on the training set",
    r"Err\(1\)(?! =)": "Err(1): mean over the rows of the error at the row of the draws without it",
}
#: What a method estimates unless its card says otherwise.
CONDITIONAL = Estimand("conditional")
EXPECTED = Estimand("expected")
HOLDOUT_MODEL = Estimand("holdout-model")
RULE = Estimand("rule")
#: The fits of methods that read one test set.
COST_OF_TEST_SET = "1, or 0 with a new test set"
#: The key of `MethodCard.ways` for groups of rows.
GROUPED = ("for groups", None)
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})
Needs: TypeAlias = Set[RecordKind[Any]]


@dataclass(frozen=True)
class Choice:
    """An option with a fixed set of values; the first is the default."""

    values: tuple[str, ...]

    @property
    def default(self) -> str:
        """The value that is used unless another is given."""
        return self.values[0]

    def check(self, name: str, value: object) -> str:
        """Return the value; raise ValueError if it is not in the set."""
        return check_choice(name, value, self.values)

    def __str__(self) -> str:
        return ", ".join(self.values)


@dataclass(frozen=True)
class Number:
    """An option that is a number in [low, high), or in [low, inf] if `high` is infinite."""

    default: float
    low: float = 0.0
    high: float = float("inf")

    @property
    def values(self) -> tuple[float, ...]:
        """The value that stands for others: its default."""
        return (self.default,)

    def check(self, name: str, value: object) -> float:
        """Return the value as a float; raise ValueError for anything else."""
        return check_number(name, value, self.low, self.high)

    def __str__(self) -> str:
        return f"{self.default:g}"


Option = Choice | Number
#: What of a classifier a metric judges.
Kind = Literal["classes", "scores", "probabilities"]
#: The same, in the words of errors.
READS: Mapping[str, str] = {
    "classes": "which rows are misclassified",
    "scores": "scores, for the AUC",
    "probabilities": "probabilities, for the Brier score",
}


#: The labels of the paragraphs of a card. "With form=wilson" is the title with another value of an option, "With form"
#: that with any value but the default, "With groups" that for groups of rows; "Reference with" names their sources.
_LABELS = (
    r"(?:^|\n)(Formula|Assumptions|Tendency|Reference|(?:With|Reference with) [a-z_]+(?:=[a-z0-9-]+)?): "
)


def described(function: Callable[..., Any] | None) -> dict[str, Any]:
    """Return the parts of a card that the docstring of a function has: its first line and the labeled paragraphs.

    Examples
    --------
    >>> def low(records):
    ...     '''Limits that are far too low.
    ...
    ...     Formula: 0 and 0.
    ...     Tendency: liberal.
    ...     Reference with form=wilson: Wilson (1927).
    ...     '''
    >>> card = described(low)
    >>> card["title"], card["formula"], card["ways"]["form", "wilson"].reference
    ('Limits that are far too low', '0 and 0', 'Wilson (1927)')
    """
    if isinstance(function, partial):  # the formula is the last function that it is given
        inside = (function.func, *function.args, *function.keywords.values())
        function = [part for part in inside if inspect.isfunction(part)][-1]
    title, *paragraphs = ("" if function is None else inspect.getdoc(function) or "").split("\n\n")
    _, *parts = re.split(_LABELS, "\n".join(text for text in paragraphs if re.match(_LABELS, text)))
    texts = zip(("title", *parts[::2]), (title.partition("\n")[0], *parts[1::2]), strict=True)
    card: dict[str, Any] = {name.lower(): " ".join(words.split()).removesuffix(".") for name, words in texts}
    ways: dict[tuple[str, object], Words] = {}
    for option in dict.fromkeys(label.rpartition("with ")[2] for label in card if "with " in label):
        name, _, value = option.partition("=")
        way = GROUPED if option == "groups" else (name, value or None)
        ways[way] = Words(card.pop(f"with {option}", ""), card.pop(f"reference with {option}", ""))
    return card | {"ways": ways} if ways else card


def sources_beyond(sources: str, others: str) -> str:
    """Return the works of a list that are not among the others.

    Examples
    --------
    >>> sources_beyond("Wilson (1927); Kish (1965); Student (1908), page 1", "Wilson (1927)")
    'Kish (1965); Student (1908), page 1'
    """
    known = others.split("; ")
    return "; ".join(work for work in sources.split("; ") if work not in known)


@dataclass(frozen=True)
class MethodCard:
    """The description of a registered method.

    What is not given of its title, formula, assumptions, tendency, reference and ways is in the docstring of its
    function, see `described`. Other ways without a title have its title, and `variants` may be the fields that differ.

    Attributes
    ----------
    name : str
        Its name in ``methods=``.
    needs : set of RecordKind
        The required records.
    title : str
        One line.
    formula : str, default=""
        The estimate or the limits in plain characters, with the symbols of `SYMBOLS`.
    estimand : Estimand, default=Estimand("conditional")
        Its estimand; only the kind if the number of training rows depends on the records.
    assumptions : str
        The conditions for the nominal level.
    tendency : str
        Whether it is known to be too short (liberal) or too long (conservative), too low or too high, and when.
    reference : str
        Sources with section or equation, separated by semicolons, and where this package deviates from them.
    ways : mapping of (str, object) to Words
        Title and sources with another value of an option, by the option and the value; by the option and None for any
        value but the default; by `GROUPED` for groups of rows.
    cost : str
        Classifier fits in addition to the given one, in the symbols of `cudbound.Resampling`.
    options : mapping of str to Option
        Its options, with defaults.
    needs_with : callable or None
        ``needs_with(options) -> set of RecordKind``: the records with all its options, if they can differ from
        `needs`.
    with_groups : {"kept", "refits", "no"}
        The treatment of groups of rows: "kept" if resampling and limits use whole groups, "refits" if refits keep
        groups together but the limits treat rows as independent, "no" if the method cannot be used with groups.
    reads : {"classes", "scores", "probabilities"}, default="classes"
        The output of the classifier that it uses: for the error and related metrics, for the AUC, for the Brier score.
    variants : mapping of str to MethodCard
        The methods of the same name for metrics that use other outputs.
    settings : type or None, default=None
        The class of the settings that a pair may have in place of options, such as `cudbound.Bound`.
    """

    name: str
    needs: Needs
    _: KW_ONLY
    cost: str
    title: str = ""
    estimand: Estimand = CONDITIONAL
    assumptions: str = ""
    tendency: str = ""
    reference: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    ways: Mapping[tuple[str, object], Words] = field(default_factory=dict, repr=False)
    formula: str = ""
    needs_with: Callable[[Mapping[str, Any]], Needs] | None = field(default=None, repr=False)
    with_groups: Literal["kept", "refits", "no"] = "kept"
    reads: Kind = "classes"
    variants: Mapping[str, Any] = field(default_factory=dict, repr=False)
    settings: type | None = field(default=None, repr=False)

    #: The fields with functions of the method, of which the first that is given has the docstring.
    FUNCTIONS: ClassVar[tuple[str, ...]] = ("compute",)

    def __post_init__(self) -> None:
        if not isinstance(self.estimand, Estimand):
            raise ParameterError("estimand", "an Estimand, such as Estimand('conditional')", self.estimand)
        for kind in self.needs:
            if not isinstance(kind, RecordKind):
                rule = "kinds of records, such as cudbound.resampling.folds.FOLDS"
                raise ParameterError("needs", rule, kind)
        functions = [getattr(self, name) for name in self.FUNCTIONS]
        for name, text in described(next(filter(None, functions), None)).items():
            object.__setattr__(self, name, getattr(self, name) or text)
        object.__setattr__(self, "title", self.title or self.name)  # python -OO drops docstrings
        ways = {way: replace(words, title=words.title or self.title) for way, words in self.ways.items()}
        object.__setattr__(self, "ways", ways)
        variants: dict[str, Any] = {}
        for reads, changes in self.variants.items():
            variants[reads] = changes
            if isinstance(changes, dict):
                function = next((changes[name] for name in self.FUNCTIONS if name in changes), None)
                fields: Any = {"reads": reads, "variants": {}, **described(function), **changes}
                variants[reads] = replace(self, **fields)
        object.__setattr__(self, "variants", variants)

    def words(self, chosen: Mapping[str, Any] = NO_OPTIONS, grouped: bool = False) -> Words:
        """Return its title and sources with these values of options, for a paper; others have their defaults."""
        if grouped and GROUPED in self.ways:
            return self.ways[GROUPED]
        changed = {name: value for name, value in chosen.items() if value != self.options[name].default}
        keys = (key for name, value in changed.items() for key in ((name, value), (name, None)))
        return next((self.ways[key] for key in keys if key in self.ways), Words(self.title, self.reference))

    @property
    def sources(self) -> str:
        """Its sources with the default options, then what those of other ways have in addition."""
        parts = [self.reference]
        for (name, value), words in self.ways.items():
            way = name if (name, value) == GROUPED else f"with {name}={value}" if value else f"with {name}"
            if further := sources_beyond(words.reference, self.reference):
                parts.append(f"{way}: {further}")
        return "; ".join(parts)

    @cached_property
    def on_test_set(self) -> bool:
        """Whether it reads losses on a test set, and none on the training rows."""
        names = {kind.name for kind in self.needs}
        return "test_set" in names and not names & {"losses", "scores"}

    def reading(self, kind: str) -> Self | None:
        """Return the method of this name for metrics that read classes, scores or probabilities, if there is one."""
        return self if self.reads == kind else self.variants.get(kind)

    def why_not_read(self, kinds: Iterable[str]) -> str:
        """Return why a method is not available for metrics that read these kinds, as a sentence."""
        inputs = " and ".join(READS[name] for name in (self.reads, *self.variants))
        return f"{self.name} reads {inputs}, and not {' or '.join(READS[kind] for kind in kinds)}."

    @property
    def symbols(self) -> str:
        """The meaning of the symbols that the formula does not define."""
        return "; ".join(meaning for pattern, meaning in SYMBOLS.items() if re.search(pattern, self.formula))

    def needed(self, options: Mapping[str, Any]) -> Needs:
        """Return the records needed with these options."""
        if self.needs_with is None:
            return self.needs
        return self.needs_with(self.resolve_options(options))

    def resolve_options(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return a value for every option, the given one or the default.

        Raises
        ------
        ValueError
            If an option is unknown or its value is not allowed.
        """
        for name in sorted(set(options) - set(self.options)):
            meant = suggestion(name, self.options)
            offered = f"Its options are {sorted(self.options)}." if self.options else "It has no options."
            raise ValueError(f"{self.name} has no option {name!r}. {offered}{meant}")
        return {
            name: option.check(name, options.get(name, option.default))
            for name, option in self.options.items()
        }


Card = TypeVar("Card", bound=MethodCard)


@dataclass(frozen=True)
class RequestedMethods(Generic[Card]):
    """The requested methods, as an iterable.

    Attributes
    ----------
    methods : tuple of MethodCard
        Each once, in the order given.
    options : mapping of str to mapping
        The given options, by the names of the methods.
    named : frozenset of str
        Methods that were requested by name: it is an error if one of them cannot be computed, while a member of a group
        gets a row with the reason.
    settings : object, default=None
        The settings that came with a method in place of options; None for the defaults.
    """

    methods: tuple[Card, ...]
    options: Mapping[str, Mapping[str, Any]]
    named: frozenset[str]
    settings: Any = None

    def __iter__(self) -> Iterator[Card]:
        return iter(self.methods)

    def options_of(self, method: MethodCard) -> Mapping[str, Any]:
        """Return the options that were given for a method, as far as it has them for what it reads."""
        chosen = self.options.get(method.name, NO_OPTIONS)
        return {name: value for name, value in chosen.items() if name in method.options}

    def needed(self, *methods: MethodCard) -> Needs:
        """Return the records that methods need with the options that were given for them."""
        return {kind for method in methods for kind in method.needed(self.options_of(method))}

    def reading(self, kinds: Sequence[str]) -> tuple[Card, ...]:
        """Return the methods for metrics that read these kinds, one per name and kind."""
        readings = (method.reading(kind) for method in self.methods for kind in kinds)
        return tuple(card for card in readings if card is not None)

    def that_read(self, kinds: Sequence[str]) -> RequestedMethods[Card]:
        """Return the methods that read one of these kinds; members of groups that read none are left out.

        Raises
        ------
        ValueError
            If a method that was requested by name reads none, or if no method does.
        """
        unread = [method for method in self.methods if not any(map(method.reading, kinds))]
        for method in unread:
            if method.name in self.named or len(unread) == len(self.methods):
                raise ValueError(
                    f"{method.why_not_read(kinds)} Use another one, such as 'two-center', or 'all'."
                )
        return replace(self, methods=tuple(method for method in self.methods if method not in unread))


def find_named(
    requested: Any,
    cards: Mapping[str, Card],
    groups: Mapping[str, Iterable[str]],
    rule: str,
    of_function: Callable[[Any], Card] | None = None,
    argument: str = "methods",
) -> RequestedMethods[Card]:
    """Return the requested methods: a name, a group, a pair (name, options), or a list of any of these.

    A list may also have methods themselves, which need not be among the cards, and functions, of which `of_function`
    makes them. A pair with a group sets an option in each of its members that has it. In place of options it may have
    the settings of a method, which are shared by all methods with settings of this class. Each method is taken once,
    in the order given. Requested methods are returned as they are.

    Raises
    ------
    ValueError
        If a name or an option is not known, a value is not allowed, two methods have one name, or the list is empty;
        that of a name has the `rule`, and names the `argument` of the call.
    """
    if isinstance(requested, RequestedMethods):
        return requested
    is_single = isinstance(requested, str | MethodCard) or callable(requested) or _is_pair(requested)
    if not is_single and not isinstance(requested, Iterable):
        raise ParameterError(argument, rule, requested)
    methods: dict[str, Card] = {}
    options: dict[str, dict[str, Any]] = {}
    named: set[str] = set()
    settings: Any = None
    for entry in [requested] if is_single else requested:
        name, changed = entry if _is_pair(entry) else (entry, NO_OPTIONS)
        is_group = isinstance(name, str) and name in groups
        members = [cards[member] for member in groups[name]] if is_group else [name]
        if not is_group and of_function is not None and callable(name):
            members = [of_function(name)]
        elif isinstance(name, str) and name in cards:
            members = [cards[name]]
        if not isinstance(members[0], MethodCard):
            meant = suggestion(name, (*cards, *groups))
            raise ParameterError(argument, "the name of a method or a group" if meant else rule, name, meant)
        if not isinstance(changed, Mapping):
            if not any(method.settings and isinstance(changed, method.settings) for method in members):
                raise ParameterError(argument, f"{name!r} with a mapping of its options", entry)
            if settings not in (None, changed):
                raise ParameterError(argument, "methods with the same settings", changed)
            settings, changed = changed, NO_OPTIONS
        for method in members:
            if not is_group and method.name not in methods:
                named.add(method.name)  # a pair may also set options of what a group before it has named
            if not methods.setdefault(method.name, method) is method is cards.get(method.name, method):
                raise ValueError(
                    f"{method.name!r} is already the name of another method. Choose another name for yours."
                )
            of_method = {
                key: value for key, value in changed.items() if not is_group or key in method.options
            }
            if of_method:
                method.resolve_options(of_method)
                options[method.name] = options.get(method.name, {}) | of_method
        unused = sorted(set(changed) - {key for method in members for key in method.options})
        if is_group and unused:
            raise ValueError(f"No method of the group {name!r} has the option {unused[0]!r}.")
    if not methods:
        raise ParameterError(argument, rule, requested)
    return RequestedMethods(tuple(methods.values()), options, frozenset(named), settings)


def _is_pair(member: object) -> bool:
    if not isinstance(member, tuple) or len(member) != 2:
        return False
    return not isinstance(member[1], str | MethodCard | tuple) and not callable(member[1])


def check_options(options: object, methods: Iterable[MethodCard]) -> dict[str, dict[str, Any]]:
    """Return the options of single methods by their names.

    Raises
    ------
    ValueError
        If they are not a mapping of mappings, if one is for a method that was not requested, or if a name or a value of
        an option is invalid.
    """
    example = 'a mapping of names of methods to mappings, such as {"kohavi-normal": {"form": "wilson"}}'
    if not isinstance(options, Mapping) or not all(isinstance(each, Mapping) for each in options.values()):
        raise ParameterError("options", example, options)
    requested = {method.name: method for method in methods}
    for name in sorted(set(options) - set(requested)):
        meant = suggestion(name, requested)
        raise ValueError(f"'options' names {name!r}, which is not one of the requested methods.{meant}")
    return {name: requested[name].resolve_options(values) for name, values in options.items()}
