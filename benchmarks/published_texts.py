"""What the metrics give for published poems and texts, from the mirror's bytes. No model of this project is used.

`ESPALIER_MIRROR=FOLDER python benchmarks/published_texts.py` writes `benchmarks/details/<paper>/<name>.json`: the sums
of the statistics of all texts by metric family, and the scores that they give. docs/songnet.md and docs/metrics.md show
them. It takes about a minute.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from measuring import mirror_folder
from rows_without_model import FOLDER as CDNPG
from rows_without_model import Sums, scores_of

from espalier.corpora.published import published_texts
from espalier.corpora.readers import paraphrases, songnet_released, sonnets
from espalier.corpora.records import Pair, Quarantined, Verse
from espalier.io.archives import unpack
from espalier.io.files import write_json
from espalier.metrics.family import Family, statistics_of
from espalier.metrics.paraphrase import paraphrase_statistics
from espalier.metrics.perplexity import Perplexity
from espalier.metrics.rhyme_places import shuffle_ends
from espalier.metrics.texts import Pairs, Verses
from espalier.metrics.verse import verse_families

FOLDER: Final = CDNPG.parent
SHAKESPEARE: Final = "Shakespeare, William"
#: The task of a paper's metrics.
TASKS: Final = {"songnet": "verse", "guig": "paraphrase"}
#: The files, as `<paper>/<name>`.
FILES: Final = (
    "songnet/pretrained",  # the five draws of the authors' pre-trained model for their 962 test poems
    "songnet/songci",  # these poems against themselves
    "songnet/sonnets_strict",  # Shakespeare's sonnets against themselves, by each rule of rhyme
    "songnet/sonnets_consonance",
    "songnet/sonnets_eye",
    "songnet/sonnets_shuffled",  # with their last words shuffled, against the originals
    "songnet/sonnets_others",  # the sonnets of all other poets
    "guig/retrained",  # what a retraining of GuiG.TG by others wrote for GuiG's 800 test pairs
    "guig/copy",  # the sources of these pairs
    "guig/parasci_acl",  # the paraphrases of this collection, and of the next, against their sources
    "guig/mrpc",
)


def measured(mirror: Path) -> Iterator[tuple[str, Sums]]:
    """The sums for each of `FILES`."""
    for paper, read in (("songnet", _ci), ("songnet", _sonnets), ("guig", _paraphrases)):
        for name, families in read(mirror):
            sums = {each.key: [round(float(value), 6) for value in rows.sum(axis=0)] for each, rows in families.items()}
            yield f"{paper}/{name}", sums


def _ci(mirror: Path) -> Iterator[tuple[str, Mapping[Family[Any], Any]]]:
    folder = mirror / "songnet_released"
    poems = _verses(songnet_released.read({"released": folder}))
    ids = [poem.id for poem in poems]
    draws = [published_texts(folder / f"out{draw}.txt", ids, songnet_released.written) for draw in range(1, 6)]
    for name, outputs in (("pretrained", draws), ("songci", [[poem.target for poem in poems]])):
        yield (
            name,
            _verse_statistics(
                poems * len(outputs),
                [text for texts in outputs for text in texts],
                language="zh",
                rules="songci",
                draws=[draw for draw in range(len(outputs)) for _ in poems],
            ),
        )


def _sonnets(mirror: Path) -> Iterator[tuple[str, Mapping[Family[Any], Any]]]:
    with tempfile.TemporaryDirectory() as place:
        unpack(mirror / "sonnet/deepspeare/data.tgz", Path(place), name="data.tgz")
        poems = _verses(sonnets.read({"friedman": mirror / "sonnet/friedman", "deepspeare": Path(place)}))
    own = [poem for poem in poems if poem.author == SHAKESPEARE]
    others = [poem for poem in poems if poem.author != SHAKESPEARE]
    texts, settings = [poem.target for poem in own], {"language": "en", "rules": "sonnet"}
    for rule in ("strict", "consonance", "eye"):
        yield f"sonnets_{rule}", _verse_statistics(own, texts, rule=rule, **settings)
    yield "sonnets_shuffled", _verse_statistics(own, shuffle_ends(texts, "en", 1), **settings)
    yield "sonnets_others", _verse_statistics(others, [poem.target for poem in others], **settings)


def _paraphrases(mirror: Path) -> Iterator[tuple[str, Mapping[Family[Any], Any]]]:
    names = "test_ori.txt", "test_ref.txt", "text.full.v-submit.11.19.txt"
    sources, references, outputs = (
        (mirror / "guig_released" / name).read_text(encoding="utf-8").splitlines() for name in names
    )
    sources = [line.split("\t")[0] for line in sources]
    for name, texts in (("retrained", outputs), ("copy", sources)):
        yield name, paraphrase_statistics(Pairs(sources, references, texts), scored=("similarity",))
    folders = {
        "parasci_acl": (paraphrases.read_parasci, "parasci/ParaSCI-ACL"),
        "mrpc": (paraphrases.read_mrpc, "mrpc"),
    }
    for name, (read, folder) in folders.items():
        pairs = [row for row in read({name: mirror / folder}) if isinstance(row, Pair)]
        sources, texts = [pair.source for pair in pairs], [pair.target for pair in pairs]
        yield name, paraphrase_statistics(Pairs(sources, sources, texts), scored=("defects",))


def _verses(rows: Iterator[Verse | Quarantined]) -> list[Verse]:
    return [row for row in rows if isinstance(row, Verse)]


def _verse_statistics(
    poems: Sequence[Verse], texts: Sequence[str], language: Any, rules: Any, rule: Any = "strict", draws: Any = None
) -> dict[Family[Any], Any]:
    """All families but that of a likelihood, which no text has here."""
    verses = Verses([poem.target for poem in poems], texts, [poem.rhyme for poem in poems], language, draws=draws)
    families = verse_families(verses, rules=rules, rule=rule, seed=1)
    return statistics_of([family for family in families if family != Perplexity()], verses)


if __name__ == "__main__":
    for file, found in measured(mirror_folder().resolve()):
        kept = {"sums": found, "scores": scores_of(found, TASKS[file.partition("/")[0]])}
        write_json(FOLDER / f"{file}.json", kept)
        print(f"{file}: written")
