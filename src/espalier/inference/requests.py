"""What is asked of a model: the inputs of each service, and its options. This module does not import torch.

An `Option` says what a field means and which values it can have; `espalier.cli.command` makes commands of such fields.
Annotations are objects here, not strings, so that they can be read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, fields
from typing import Annotated, Any, ClassVar, Final, Literal, get_args, get_origin

from espalier.decoding.bounds import (
    CANDIDATES,
    MAX_BEAM,
    MAX_CANDIDATES,
    MAX_LENGTH_POWER,
    MAX_MMI,
    MAX_TEMPERATURE,
    MAX_TOP_K,
)
from espalier.inference.writer import MAX_TEXTS, ArgumentError
from espalier.io.calls import checked_call, require_range

#: How many of the most frequent templates a text is paraphrased under where none is given.
TEMPLATES = 3
#: Options of a search, for which a model has the values of its run in the tables.
SEARCH: Final = ("beam", "local", "length_power", "mmi", "top_k", "temperature")
#: Those without effect on beams, and on samples.
WITHOUT_EFFECT: Final = {True: ("top_k", "temperature"), False: ("local",)}


@dataclass(frozen=True)
class Option:
    """The meaning of a field, and its bounds, each None if there is none."""

    help: str
    least: float | None = None
    most: float | None = None


def described(kind: type[Any]) -> Iterator[tuple[Field[Any], Any, Option]]:
    """Each field of a dataclass that has an `Option`, with its type."""
    for field in fields(kind):
        for option in getattr(field.type, "__metadata__", ()):
            if isinstance(option, Option):
                yield field, get_args(field.type)[0], option


def require_options(kind: type[Any], given: Mapping[str, Any]) -> None:
    """Raise an ArgumentError if a value is out of the bounds of its field, or is none of its choices."""
    for field, type_, option in described(kind):
        name, value = field.name, given.get(field.name)
        literal = next((each for each in (type_, *get_args(type_)) if get_origin(each) is Literal), None)
        if literal and value is not None and value not in get_args(literal):
            raise ArgumentError.unknown(name, value, get_args(literal), where=name)
        if isinstance(value, int | float):
            require_range(name, value, option.least, option.most)


def without_effect(kind: type[Any], given: Mapping[str, Any], own: Mapping[str, Any]) -> list[str]:
    """A note on each option of a call that changes nothing, since texts are searched for, or since they are drawn.

    Args:
        kind: the options of the service, with their defaults.
        own: the model's own values of options that are not given.
    """
    defaults = {field.name: field.default for field in fields(kind)}
    beam = {**defaults, **own, **given}.get("beam")
    if not isinstance(beam, int):
        return []
    what = "beams; give beam 0 to draw" if beam else "samples; give a beam to search"
    return [f"{name} has no effect on {what}" for name in WITHOUT_EFFECT[beam > 0] if name in given]


# --- Inputs. Errors refer to one by its `name`, such as "posts.txt, row 3" --------------------------------------------


@checked_call
@dataclass(frozen=True)
class VerseRequest:
    """A format, or what defines one: a tune or tones."""

    format: Annotated[
        str | None, Option("Counts (5,5。7,5。) or a template (_雨#。), where _ is any word and # a word that rhymes.")
    ] = None
    rhyme: Annotated[str | None, Option("One letter for each unit, . for none: .A.A")] = None
    tune: Annotated[
        str | None, Option("A tune. It gives the format, and a model with `title: true` reads its name.")
    ] = None
    name: str = ""
    variant: Annotated[int | None, Option("The variant of the tune, counted from 1.")] = None
    tones: Annotated[
        str | None,
        Option("One sign for each word: 平 level, 仄 oblique, 中 either. By Mandarin's tones, or the book's."),
    ] = None
    acrostic: Annotated[
        str | None, Option("Words that begin the sentences, or, if there are more of them, the clauses.")
    ] = None


@checked_call
@dataclass(frozen=True)
class CheckRequest:
    """A text, and the rules that it should keep (`espalier.frames`)."""

    text: Annotated[str, Option("A text. Its lines, where they matter, end with / or a line end.")]
    tune: Annotated[str | None, Option("A tune; of its variants, the one that fits best is taken.")] = None
    variant: Annotated[int | None, Option("The variant of the tune, counted from 1.")] = None
    format: Annotated[str | None, Option("Counts (5,5。7,5。) or a template (_雨#。).")] = None
    rhyme: Annotated[str | None, Option("One letter for each unit, . for none: .A.A")] = None
    tones: Annotated[str | None, Option("One sign for each word: 平 level, 仄 oblique, 中 either.")] = None
    acrostic: Annotated[
        str | None, Option("Words that begin the sentences, or, if there are more of them, the clauses.")
    ] = None
    words: Annotated[tuple[str, ...] | None, Option("A word that must occur; repeat it for more.")] = None
    form: Annotated[str | None, Option("A form by its name; `espalier list forms` lists them.")] = None
    opening: Annotated[
        int | None, Option("Which opening of a form of regulated verse, from 1; default: one that fits.")
    ] = None
    syllables: Annotated[str | None, Option("The syllables of each line, in English: 5/7/5")] = None
    meter: Annotated[
        str | None, Option("The meter of each line, in English: 'iambic pentameter', or one for each line with /.")
    ] = None
    template: Annotated[
        str | None, Option("The top levels of the text's tree, as its parser sees it: '(S (NP) (VP) (.))'.")
    ] = None
    name: str = "text"
    # Options of the command (`CheckOptions`), which a line of a file may have as well.
    book: str | None = None
    tone: bool | None = None
    marks: bool | None = None
    rare: bool | None = None


@checked_call
@dataclass(frozen=True)
class GrammarRequest(CheckRequest):
    """The rules of a grammar: those of `CheckRequest`."""

    tune: Annotated[str | None, Option("A tune; of its variants, the one that most Song ci follow is taken.")] = None


@checked_call
@dataclass(frozen=True)
class PairRequest:
    """A text to paraphrase, and optionally its own template."""

    text: Annotated[str, Option("An English sentence.")]
    template: Annotated[
        str | None, Option("The top levels of the output's tree, with words or without: '(S (NP you) (VP) (.))'.")
    ] = None
    name: str = "text"


@checked_call
@dataclass(frozen=True)
class Post:
    """A post to reply to."""

    text: Annotated[str, Option("The post that is answered.")]
    name: str = "post"


@checked_call
@dataclass(frozen=True)
class TemplateRequest:
    """A text whose structure is the template, or a structure itself, or a text with a structure in place of its own."""

    template: Annotated[str, Option("A sentence whose structure is kept; its language chooses the model.")] = ""
    prompt: Annotated[str, Option("The template's own beginning, at most half of it, with which the texts begin.")] = ""
    topics: Annotated[tuple[str, ...], Option("A topic word; repeat it for more. Default: those of the template.")] = ()
    name: str = "template"
    pos: Annotated[
        str, Option("The parts of speech themselves, one for each token, or for each word of --pc: 'DT NN VBD'.")
    ] = ""
    pc: Annotated[
        str, Option("The word boundaries themselves: 'S BE BME' is a word of one token, one of two and one of three.")
    ] = ""


@checked_call
@dataclass(frozen=True)
class SampleRequest:
    """The beginning of a text."""

    prompt: Annotated[str, Option("The beginning of the text; without it the model begins by itself.")] = ""
    name: str = "prompt"


# --- Options ----------------------------------------------------------------------------------------------------------

Beams = Annotated[int, Option(f"The number of beams, at most {MAX_BEAM:,}.", 1, MAX_BEAM)]
BeamsOrSamples = Annotated[int, Option(f"The number of beams, at most {MAX_BEAM:,}; 0 samples instead.", 0, MAX_BEAM)]
Best = Annotated[int, Option("The number of texts, the best of the search; at most the number of beams.", 1, MAX_BEAM)]
_POWER = "Log-probabilities are divided by the length to this power; above 0 favours longer texts; at most"
LengthPower = Annotated[float, Option(f"{_POWER} {MAX_LENGTH_POWER:g}.", 0, MAX_LENGTH_POWER)]
_GROUPS = (
    f"The groups of children that are kept for each leaf of a tree, at most {MAX_BEAM:,}; "
    "default: the model's own, else 6."
)
_MMI = "Rank the beams' replies by log p(reply | post) - this * log p(reply), against what fits any post"
_CANDIDATES = "With strict: the number of candidates under a tree, from two beams and samples beyond them"
Candidates = Annotated[int | None, Option(f"{_CANDIDATES}; default: {CANDIDATES}.", 1, MAX_CANDIDATES)]


@checked_call
@dataclass(frozen=True)
class Options:
    """The options of a service, of which `n` and `beam` are the best texts of a search and its beams."""

    noun: ClassVar[str] = "texts"  # for what the service writes, in messages

    def __post_init__(self) -> None:
        """Raise an ArgumentError if a value cannot be."""
        require_options(type(self), vars(self))
        n, beam = getattr(self, "n", 1), getattr(self, "beam", 0)
        if beam and n > beam:
            remedy = f"raise the beam to {n}, or lower n"
            raise ArgumentError(f"{n} {self.noun} of {beam} beams", where="n", remedy=remedy)

    def shared(self, decoder: type[Any]) -> dict[str, Any]:
        """The options that are also settings of a task's decoder and are not None."""
        names = decoder.model_fields.keys() & vars(self).keys()
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@checked_call
@dataclass(frozen=True)
class SamplingOptions(Options):
    """Options of services that draw their texts, or search for them."""

    n: Annotated[int, Option(f"The number of texts for each request, at most {MAX_TEXTS:,}.", 1, MAX_TEXTS)] = 1
    seed: Annotated[int, Option("The seed of the random draws.")] = 1
    top_k: Annotated[int, Option(f"Draw from the k most probable words; at most {MAX_TOP_K:,}.", 1, MAX_TOP_K)] = 32
    temperature: Annotated[float, Option(f"The logits are divided by it; above 0, at most {MAX_TEMPERATURE:g}.")] = 1.0
    beam: BeamsOrSamples = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.temperature <= MAX_TEMPERATURE:
            remedy = f"above 0, at most {MAX_TEMPERATURE:g}"
            raise ArgumentError(f"{self.temperature} is no temperature", where="temperature", remedy=remedy)


@checked_call
@dataclass(frozen=True)
class VerseOptions(SamplingOptions):
    """Options of `generate` and `polish`."""

    book: Annotated[
        Literal["mandarin", "cilin", "pingshui"], Option("The rhyme book: mandarin, cilin or pingshui.")
    ] = "mandarin"
    tone: Annotated[bool, Option("Keep the tones of the tune, or the given ones: by Mandarin, or the book's.")] = False
    rare: Annotated[bool, Option("Rare readings of Mandarin count for tones.")] = False
    free: Annotated[bool, Option("Let the model predict separators and marks too.")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.free and (self.tone or self.book != "mandarin"):
            raise ArgumentError("free texts keep no rhymes or tones", where="free", remedy="leave out book and tone")


@checked_call
@dataclass(frozen=True)
class CheckOptions(Options):
    """Options of `check`."""

    book: Annotated[
        Literal["mandarin", "cilin", "pingshui"] | None,
        Option("The rhyme book: mandarin, cilin or pingshui; default: cilin for a tune, else mandarin."),
    ] = None
    tone: Annotated[bool, Option("The tones of the tune count at all places, not only at its rhymes.")] = False
    marks: Annotated[bool, Option("The marks of the tune or form count too; a format's always do.")] = False
    rare: Annotated[bool, Option("Rare readings of Mandarin count.")] = False


@checked_call
@dataclass(frozen=True)
class GrammarOptions(CheckOptions):
    """Options of `grammar`."""

    notation: Annotated[
        Literal["lark", "gbnf", "regex"],
        Option("lark (vLLM, llguidance), gbnf (llama.cpp, SGLang, xgrammar) or regex (outlines)."),
    ] = "lark"
    groups: Annotated[
        tuple[str, ...] | None, Option("The rhyme group of the next rhyme letter; default: that with the most words.")
    ] = None
    repeated: Annotated[str | None, Option("The words that a tune repeats; default: some that suit.")] = None
    alternatives: Annotated[
        int, Option("Between so many rhyme groups a text may choose, at most 13; those of --group are given.")
    ] = 1


@checked_call
@dataclass(frozen=True)
class ComposeOptions(SamplingOptions):
    """Options of `compose`."""

    frame: Annotated[bool, Option("Make each text exactly as long as the template.")] = False


@checked_call
@dataclass(frozen=True)
class SampleOptions(SamplingOptions):
    """Options of `sample`."""


@checked_call
@dataclass(frozen=True)
class GranularityOptions(Options):
    """Options of `granularity`."""

    beam: Beams = 8
    length_power: LengthPower = 0.0


@checked_call
@dataclass(frozen=True)
class PlainParaphraseOptions(GranularityOptions):
    """Options of `paraphrase` by models that read only texts."""

    n: Best = 1


@checked_call
@dataclass(frozen=True)
class ExpandOptions(Options):
    """Options of `expand`. Templates are those for texts without their own."""

    templates: Annotated[
        Sequence[str] | int,
        Option("The number of frequent templates of the training data that are used if no template is given.", 1),
    ] = TEMPLATES
    beam: Beams = 8
    n: Best = 1


@checked_call
@dataclass(frozen=True)
class ParaphraseOptions(ExpandOptions):
    """Options of `paraphrase` by models that read trees; `n` counts the texts of each template."""

    like: Annotated[str | None, Option("A sentence whose top levels are the template.")] = None
    full: Annotated[bool, Option("With like: use its whole tree instead of an expanded template.")] = False
    length_power: LengthPower = 0.0
    strict: Annotated[
        bool, Option("Take candidates whose own parse keeps the template; exit with 1 where none does.")
    ] = False
    candidates: Candidates = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.full and self.like is None:
            raise ArgumentError("there is no whole tree to take", where="full", remedy="give a sentence to take it of")
        if self.candidates is not None and not self.strict:
            raise ArgumentError("candidates of which none is chosen", where="candidates", remedy="add strict")
        if self.candidates is not None and self.n > self.candidates:
            remedy = f"raise the candidates to {self.n}, or lower n"
            raise ArgumentError(f"{self.n} texts of {self.candidates} candidates", where="n", remedy=remedy)


@checked_call
@dataclass(frozen=True)
class ReplyOptions(SamplingOptions):
    """Options of `reply`."""

    noun: ClassVar[str] = "replies"

    n: Best = 1
    beam: BeamsOrSamples = 20
    local: Annotated[int | None, Option(_GROUPS, 1, MAX_BEAM)] = None
    min_words: Annotated[
        int, Option("The smallest number of words of a reply. Without it most replies are very short.", 1)
    ] = 1
    length_power: LengthPower = 0.0
    mmi: Annotated[float, Option(f"{_MMI}; 0 does not, at most {MAX_MMI:g}.", 0, MAX_MMI)] = 0.0
