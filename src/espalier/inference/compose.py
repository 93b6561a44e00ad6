"""Texts under the structure of a template (SAT). The template is tagged, and so are the written texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar

from espalier.datasets.structure.data import StructureData
from espalier.datasets.structure.encode import topic_ids
from espalier.datasets.structure.structures import StructuredText
from espalier.datasets.structure.vocabulary import UNKNOWN
from espalier.datasets.vocabulary import UNK
from espalier.inference.given_structure import alone, given_symbols, replaced
from espalier.inference.requests import ComposeOptions, TemplateRequest
from espalier.inference.results import Composition
from espalier.inference.sampling import SamplingWriter
from espalier.inference.texts import require_text, with_ascii_marks, with_known_marks
from espalier.inference.writer import attempt, attempt_with, note_unknown
from espalier.io.errors import ConfigError, DataError, EspalierError
from espalier.syntax.parse import UNKNOWN as UNKNOWN_WORD
from espalier.syntax.parse import Parse
from espalier.syntax.parsers.jieba_backend import keywords
from espalier.syntax.parsers.parser import Sentence
from espalier.syntax.parsers.penn_words import has_ptb_form, penn_words, ptb_words
from espalier.tasks.compose import ComposeTask
from espalier.tasks.compose_decoder import ComposeDecoder
from espalier.text.language import foreign_words, has_words, join_tokens, language_name, tokens_of
from espalier.text.normalize import simplified, visible

if TYPE_CHECKING:
    from espalier.datasets.structure.data import StructureView
    from espalier.datasets.structure.encode import StructureSettings
    from espalier.datasets.structure.vocabulary import StructureVocabulary
    from espalier.decoding.beam import Hypothesis
    from espalier.inference.loaded import LoadedModel


@dataclass(frozen=True)
class ComposeJob:
    """A request that can be answered.

    Attributes:
        row: its index among all requests, on which random draws depend.
        template: its tokens, with the symbols of all structures of the vocabulary.
        prompt: number of tokens of the prompt.
        topics: topic words; empty if the model reads none.
    """

    request: TemplateRequest
    row: int
    template: StructuredText
    prompt: int
    topics: tuple[str, ...]


@dataclass(frozen=True)
class ComposeWriter(ComposeOptions, SamplingWriter[TemplateRequest, ComposeJob, Composition]):
    """Writes texts under templates."""

    system: LoadedModel[StructureVocabulary, StructureView, StructureSettings]
    inputs: ClassVar[str] = "templates"
    request_type = TemplateRequest

    @property
    def decoder(self) -> ComposeDecoder:
        """The settings of the task for these options."""
        return ComposeDecoder(
            prompt="continue",
            frame=self.frame,
            **self.search_settings,
        )

    # --- Reading -----------------------------------------------------------------------------------------------------

    def read(self, requests: Sequence[TemplateRequest]) -> list[ComposeJob | EspalierError]:
        """Templates as structures for which the model has symbols and positions."""

        def readable(row: int, request: TemplateRequest) -> tuple[int, TemplateRequest]:
            given = self._given(request)
            text = request.template or (request.prompt if given else "")
            if text or not given:
                require_text(text, self.system.language, request.name)
                self._require_script(text, request.name)
            return row, request

        def parses(rows: Sequence[tuple[int, TemplateRequest]]) -> list[Parse | EspalierError | None]:
            texts = [each for _, each in rows if each.template]
            sentences = [self._written(each.template, each.name) for each in texts]
            found = iter(self.system.parse(sentences, [each.name for each in texts]))
            return [next(found) if each.template else None for _, each in rows]

        rows = attempt(list(enumerate(requests)), lambda each: readable(*each))
        return attempt_with(rows, parses, lambda row, parse: self._job(*row, parse))

    def _job(self, row: int, request: TemplateRequest, parse: Parse | None) -> ComposeJob:
        name, given = request.name, self._given(request)
        prompt = self._written(request.prompt, f"{name}, prompt")
        symbols = given_symbols(given, name)
        if unread := [key for key in symbols if key not in self.system.vocabulary.structures]:
            raise DataError(f"model {self.system.name} has no {unread[0]}", file=name, remedy="leave it out")
        if parse is None:
            template = alone(
                symbols,
                [token for word in _words_of(prompt) for token in tokens_of(word, self.system.language)],
                self.system.language,
                known=self.system.vocabulary.structures,
                read=self.system.view.structures,
                name=name,
            )
        else:
            tagged = self._structures(parse)
            if tagged is None:
                raise ConfigError(f"parser {self.system.parser_name} gives no tags", remedy="name one that does")
            template = replaced(tagged, symbols, name)
        tokens = template.tokens
        if len(tokens) > (limit := int(self.system.settings.max_length)):
            raise DataError(f"{len(tokens)} tokens", file=name, remedy=f"at most {limit}, as in training")
        self._require_symbols(template, name, symbols)
        length = _prompt_length(prompt, tokens, f"{name}, prompt")
        topics = self._topics(request, join_tokens(tokens, self.system.language) if parse else "")
        read = len(topic_ids(topics, self.system.vocabulary)) if self.system.view.topic else 0
        if (longest := read + len(tokens) + 1 + self.decoder.extra_tokens) > self.system.positions:
            what = f"topics and texts of up to {longest} tokens, of a model that has {self.system.positions} positions"
            remedy = "give a shorter template" if self.frame else "give a shorter template, or use frame"
            raise DataError(what, file=name, remedy=remedy)
        return ComposeJob(request, row, template, length, topics)

    @staticmethod
    def _given(request: TemplateRequest) -> dict[str, str]:
        """The lines of symbols of a request, by their structures."""
        return {name: line for name in ("pc", "pos") if (line := getattr(request, name))}

    def _require_script(self, text: str, name: str) -> None:
        """Raise a DataError if a text has words in another script, unless the model knows all their tokens."""
        known, language = self.system.vocabulary.id_of, self.system.language
        for word in foreign_words(text, language):
            if any(known(token) == UNK for token in tokens_of(word, language)):
                what = f"'{word[:40]}', which is not {language_name(language)}"
                raise DataError(what, file=name, remedy="leave it out")

    def _written(self, text: str, name: str) -> Sentence:
        """A template, or its beginning, in the form of the training texts.

        Chinese text with unknown characters is converted to Simplified characters, like lyrics, and has no unknown
        marks. English is cut into the words of the Penn treebank, and for a model of PTB brought to PTB's form.
        """
        text, vocabulary = visible(text), self.system.vocabulary
        if self.system.language == "zh":
            unknown = any(vocabulary.id_of(character) == UNK for character in text)
            text = simplified(text, "tw2s") if unknown else text
            return with_known_marks(text, lambda character: vocabulary.id_of(character) != UNK, name)
        text = with_ascii_marks(text, "en", name)
        found = None if UNKNOWN_WORD in text else penn_words(text)
        words = found[0] if found else text.split()
        return ptb_words(words, frozenset(vocabulary.words)) if has_ptb_form(vocabulary.words) else list(words)

    def _structures(self, parse: Parse) -> StructuredText | None:
        """The structures of a tagged text; None without tags."""
        words = [tokens_of(word, self.system.language) for word in parse.words]
        if len(parse.tags) != len(words):
            return None
        return StructuredText.of(words, parse.tags, self.system.vocabulary.structures)

    def _require_symbols(self, template: StructuredText, name: str, given: Collection[str]) -> None:
        """Raise a DataError if the template has symbols that did not occur in training and the model reads them."""
        for structure in self.system.view.structures:
            symbols = template.symbols[structure]
            ids = self.system.vocabulary.encode_symbols(structure, symbols)
            unknown = [place for place, id_ in enumerate(ids) if id_ == UNKNOWN]
            if unknown:
                found = dict.fromkeys(f"{symbols[place]} ({template.tokens[place]})" for place in unknown)
                what = f"{structure} {', '.join(found)}, which the model's training texts do not have"
                known = " ".join(sorted(self.system.vocabulary.symbols[structure]))
                remedy = f"they have {known[:400]}" if structure in given else "word it otherwise"
                raise DataError(what, file=name, remedy=remedy)

    def _topics(self, request: TemplateRequest, text: str) -> tuple[str, ...]:
        """The topic words of a request, else those of its template, chosen as in training.

        Raises:
            DataError: the model reads no topics or fewer topics, or a topic has no words.
        """
        where = f"{request.name}, topics"
        if not self.system.view.topic:
            if request.topics:
                raise DataError(f"model {self.system.name} reads no topics", file=where, remedy="leave them out")
            return ()
        most = int(self.system.settings.topics)
        if not request.topics and not text:
            raise DataError("no topics, which the model reads", file=where, remedy="give them, or a sentence")
        if not request.topics:
            return tuple(keywords(text, most))
        if len(request.topics) > most:
            raise DataError(f"{len(request.topics)} topic words", file=where, remedy=f"at most {most}, as in training")
        if not all(map(has_words, request.topics)):
            raise DataError("a topic without words", file=where, remedy="give words")
        return tuple("".join(topic.split()) for topic in request.topics)

    # --- Writing -----------------------------------------------------------------------------------------------------

    def write(self, jobs: Sequence[ComposeJob]) -> Iterator[tuple[TemplateRequest, Composition]]:
        """`n` texts for each template; fewer if a search finds fewer."""
        system = self.system
        note_unknown(self._unknown(jobs), system.name)
        for part in self.hypotheses(jobs, _data(jobs, system.vocabulary), ComposeTask()):
            written = [
                (job, sample + rank, self._text(job, hypothesis))
                for job, sample, hypotheses in part
                for rank, hypothesis in enumerate(hypotheses)
            ]
            structures = self._tagged([text for _, _, text in written])
            for (job, sample, text), found in zip(written, structures, strict=True):
                tokens = job.template.tokens
                template, prompt = (join_tokens(part, system.language) for part in (tokens, tokens[: job.prompt]))
                yield job.request, Composition(
                    text, template, prompt, job.topics, self.seed, sample, job.template, found
                )  # fmt: skip

    def _text(self, job: ComposeJob, hypothesis: Hypothesis) -> str:
        row = {"reference": join_tokens(job.template.tokens, self.system.language), "prompt": job.prompt}
        text: str = ComposeTask().columns(hypothesis, row, self.system.model, self.decoder)["text"]
        return text

    def _tagged(self, texts: Sequence[str]) -> list[StructuredText]:
        """The structures of texts, tagged as in the runs of the task: English by its written words."""
        language = self.system.language
        tokens = [tokens_of(text, language) for text in texts]
        parses = self.system.parser.parse(tokens if ComposeTask().writes_words(language) else texts)
        return [
            (self._structures(parse) if isinstance(parse, Parse) else None)
            or StructuredText(tuple(row), dict.fromkeys(self.system.vocabulary.structures, ()))
            for row, parse in zip(tokens, parses, strict=True)
        ]

    def _unknown(self, jobs: Sequence[ComposeJob]) -> list[str]:
        """The tokens of prompts and topics that the model does not know."""
        given = (token for job in jobs for part in (job.template.tokens[: job.prompt], *job.topics) for token in part)
        return sorted({token for token in given if self.system.vocabulary.id_of(token) == UNK})


def _data(jobs: Sequence[ComposeJob], vocabulary: StructureVocabulary) -> StructureData:
    """The templates as rows for the model."""
    columns = {
        "target": [vocabulary.encode(job.template.tokens) for job in jobs],
        "topic": [topic_ids(job.topics, vocabulary) for job in jobs],
        "prompt": [[job.prompt] for job in jobs],
    }
    for name in vocabulary.structures:
        columns[name] = [vocabulary.encode_symbols(name, job.template.symbols[name]) for job in jobs]
    return StructureData.of([job.request.name for job in jobs], columns, vocabulary)


def _words_of(sentence: Sentence) -> Sequence[str]:
    return sentence.split() if isinstance(sentence, str) else sentence


def _prompt_length(prompt: Sentence, tokens: Sequence[str], where: str) -> int:
    """The number of a template's tokens in its prompt.

    Chinese words may be spaced. An English prompt must end at a token.

    Raises:
        DataError: the template does not begin with the prompt, or the prompt is longer than half of the template
            (section 4.5).
    """
    words = _words_of(prompt)
    ends, begins = [*accumulate(words, initial="")], [*accumulate(tokens, initial="")]
    if not set(ends) <= set(begins):
        shown = prompt if isinstance(prompt, str) else " ".join(prompt)
        raise DataError(f"the template does not begin with '{shown[:40]}'", file=where, remedy="give its own beginning")
    given, most = begins.index(ends[-1]), len(tokens) // 2
    if given > most:
        raise DataError(f"{given} of {len(tokens)} tokens", file=where, remedy=f"at most {most}, half of the template")
    return given
