"""A trained model, and what it can be asked to do. Importing this module imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from espalier.inference.loaded import LoadedModel
from espalier.inference.registry import Service, service

if TYPE_CHECKING:
    import torch

    from espalier.corpora.records import Record
    from espalier.datasets.encoding import Split
    from espalier.inference.requests import PairRequest, Post, TemplateRequest, VerseRequest
    from espalier.inference.results import Composition, Expansion, Likelihood, Paraphrase, Poem, Reply, TextGranularity
    from espalier.inference.writer import Writer
    from espalier.syntax.parsers.parser import Parser


def load(
    folder: str | Path,
    *,
    seed: int | None = None,
    parser: str | Path | Parser | None = None,
    expander: str | Path | System | None = None,
    device: str | torch.device | None = None,
) -> System:
    """A trained model, ready to write.

    Args:
        folder: as training wrote it: `model.json`, `vocabulary.json`, `system.json`, `seed*.safetensors`.
        seed: whose weights; None means the lowest.
        parser: a parser or its folder, instead of the one that `system.json` names.
        expander: a system that expands templates, or its folder, instead of the one that `system.json` names.
        device: None means a GPU where there is one.

    Raises:
        ArtifactError: a file is missing, is of another version, or does not fit the others.
    """
    return System(folder, seed=seed, parser=parser, expander=expander, device=device)


class System(LoadedModel):
    """A trained model. `load` makes one; a model cannot serve each of its methods, and says so."""

    def generate(self, formats: Sequence[str | VerseRequest], **options: Any) -> list[Poem]:
        """Poems in formats, such as "5,5。7,5。" or "_雨___，____到。"; options are the fields of `VerseWriter`."""
        return self.answer("generate", formats, **options)

    def polish(self, templates: Sequence[str | VerseRequest], **options: Any) -> list[Poem]:
        """As `generate`, for formats that keep some words."""
        return self.answer("polish", templates, **options)

    def paraphrase(self, texts: Sequence[str | PairRequest], **options: Any) -> list[Paraphrase]:
        """Paraphrases of texts; options are the fields of `ParaphraseWriter`, whose templates guide the texts.

        If the model reads texts alone, they are those of `PlainParaphraseWriter`.
        """
        return self.answer("paraphrase", texts, **options)

    def expand(self, texts: Sequence[str | PairRequest], **options: Any) -> list[Expansion]:
        """Whole trees for paraphrases of texts under templates; options are the fields of `ExpansionWriter`."""
        return self.answer("expand", texts, **options)

    def granularities(self, texts: Sequence[str | PairRequest], **options: Any) -> list[TextGranularity]:
        """The granularity of each piece of texts and of their paraphrases, in each layer of a C-DNPG.

        Options are the fields of `GranularityWriter`.
        """
        return self.answer("granularity", texts, **options)

    def compose(self, templates: Sequence[str | TemplateRequest], **options: Any) -> list[Composition]:
        """Texts under the structures of templates (SAT); options are the fields of `ComposeWriter`."""
        return self.answer("compose", templates, **options)

    def reply(self, posts: Sequence[str | Post], **options: Any) -> list[Reply]:
        """Replies to posts, the best first; options are the fields of `ReplyWriter`."""
        return self.answer("reply", posts, **options)

    def likelihood(self, records: Sequence[Record | Mapping[str, str]]) -> list[Likelihood]:
        """How probable the targets of records are.

        Args:
            records: as the encoding reads them, or mappings of their fields. What is missing of a side's grammar is
                parsed.

        Raises:
            DataError: a record lacks a field, or does not fit the encoding.
        """
        from espalier.inference.likelihood import likelihoods

        return likelihoods(self, records)

    def encode(self, records: Sequence[Record | Mapping[str, str]]) -> Split:
        """Records as ids; `system.encode(records).batch(np.arange(len(records)), system.view)` is a batch of the model.

        Args:
            records: as in `likelihood`.

        Raises:
            DataError: a record lacks a field, or does not fit the encoding.
        """
        from espalier.inference.likelihood import encoded

        return encoded(self, records)

    def answer(self, name: str, inputs: Sequence[Any], **options: Any) -> list[Any]:
        """The results of any service of `SERVICES`.

        Raises:
            ConfigError: the model cannot do that, or an option cannot be.
            EspalierError: the first input that cannot be answered.
        """
        return self.writer(name, **options).answers(inputs)

    def writer(self, name: str, **options: Any) -> Writer[Any, Any, Any]:
        """A service under fixed options; it tells which inputs cannot be answered, and answers one batch at a time.

        Raises:
            ConfigError: the model cannot do that, or an option cannot be.
        """
        return self.require(name).open(self, **options)

    def require(self, name: str) -> Service:
        """The service of that name.

        Raises:
            ConfigError: the model cannot do that.
        """
        return service(name, self.name, self.encoding, self.model.config)
