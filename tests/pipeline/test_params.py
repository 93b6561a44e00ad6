"""params.yaml: what is wrong in it is one line that names the key's path and what may stand there."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from espalier.corpora.readers import READERS
from espalier.io.errors import ConfigError
from espalier.training.config import TrainingConfig
from pipeline.params import Params, entry, load_params
from pipeline.validation import validated

ROOT = Path(__file__).resolve().parents[2]
PROFILES = [
    path for path in (ROOT, ROOT / "profiles/small", ROOT / "profiles/paper") if (path / "params.yaml").exists()
]
DELETED = "(deleted)"


def changed(text: str, key: str, value: Any) -> Any:
    tree = copy.deepcopy(yaml.safe_load(text))
    tree["sources"] = {
        "web": {
            "title": "T",
            "licence": "L",
            "citation": "C",
            "files": [{"name": "a", "urls": ["https://example.org/a"], "sha256": "0" * 64, "bytes": 1, "mirror": "a"}],
        }
    }
    tree["corpora"]["lines"] = {
        **tree["corpora"]["tiny"], "task": "sentences", "reader": "penn", "source_1": "web", "parser": "words",
        "filters": {"max_words": 40},
    }  # fmt: skip
    tree = yaml.safe_load(yaml.dump(tree, Dumper=_NoAlias))
    *folders, last = [int(part) if part.isdecimal() else part for part in key.split("/")]
    place = tree
    for name in folders:
        place = place[name]
    if value == DELETED:
        del place[last]
    else:
        place[last] = value
    return tree


class _NoAlias(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


PARSER = {
    "language": "zh",
    "backend": "benepar",
    "model": "none",
    "treebank": "none",
    "seed": 1,
    "options": {},
    "training": {},
}

TALK: dict[str, Any] = {"form": "dialogue", "corpus": "talk", "vocab_from": "none"}

MISTAKES: list[tuple[str, Any, str]] = [
    # an unknown key, at each level; the keys that are allowed are listed
    ("extra", 1, r"params.yaml: extra: unknown key 'extra'; allowed: annotations, corpora"),
    ("corpora/tiny/extra", 1, r"corpora\.tiny\.extra: unknown key 'extra'; allowed: .*filters.*reader.*source_1"),
    ("corpora/tiny/filters/extra", 1, r"corpora\.tiny\.filters\.extra: .*allowed: .*min_units"),
    ("corpora/tiny/split/extra", 1, r"corpora\.tiny\.split\.random\.extra: .*allowed: dev, kind, seed, test$"),
    ("datasets/extra", {}, r"datasets\.extra: .*allowed: canonicalize, linearize"),
    ("datasets/linearize/tiny/extra", 1, r"datasets\.linearize\.tiny\.verse\.extra: .*allowed: corpus, form, length"),
    ("models/songnet/extra", 1, r"models\.songnet\.extra: .*allowed: arch, dataset"),
    ("models/songnet/training/extra", 1, r"models\.songnet\.training: extra: .*allowed: batch_tokens, betas"),
    ("runs/songnet_free/extra", 1, r"runs\.songnet_free\.extra: .*allowed: annotation, corpus, decoder"),
    ("sources/web/extra", 1, r"sources\.web\.extra: .*allowed: citation, files"),
    ("sources/web/files/0/extra", 1, r"sources\.web\.files\.0\.extra: .*allowed: bytes, mirror, name"),
    # a wrong type or value
    ("root", "/", r"params.yaml: root: .*'\.' or '\.\./\.\.'"),
    ("profile", "huge", r"params.yaml: profile: .*'nursery', 'small' or 'paper'"),
    ("corpora", [], r"params.yaml: corpora: .*dictionary"),
    ("corpora/tiny", 3, r"params.yaml: corpora\.tiny: "),
    ("corpora/tiny/task", "prose", r"corpora\.tiny\.task: .*'verse'"),
    ("corpora/tiny/filters/min_units", "many", r"corpora\.tiny\.filters\.min_units: .*integer"),
    ("corpora/tiny/filters/max_units", 1, r"corpora\.tiny\.filters: min_units 2 is greater than max_units 1"),
    (
        "corpora/lines/filters/min_units",
        2,
        r"corpora\.lines\.filters\.min_units: no rule for sentence rows; allowed: asc",
    ),
    ("corpora/tiny/split/kind", "odd", r"corpora\.tiny\.split: .*'random'"),
    ("corpora/tiny/split/dev", -1, r"corpora\.tiny\.split\.random\.dev: .*greater than or equal to 0"),
    ("datasets/linearize/tiny/units", 0, r"datasets\.linearize\.tiny\.verse\.units: .*greater"),
    ("models/songnet/seeds", [], r"models\.songnet\.seeds: .*at least 1"),
    ("models/songnet/seeds", [-1], r"models\.songnet\.seeds\.0: .*greater than or equal to 0"),
    ("models/songnet/seeds", "one", r"models\.songnet\.seeds: "),
    ("models/songnet/network", [], r"models\.songnet\.network: .*dictionary"),
    ("models/songnet/training/steps", 0, r"models\.songnet\.training: steps: .*greater"),
    ("models/songnet/training/schedule", "cosine", r"models\.songnet\.training: schedule: .*'noam', 'linear'"),
    ("runs/songnet_free/samples", 0, r"runs\.songnet_free\.samples: .*greater"),
    ("runs/songnet_free/seed", -3, r"runs\.songnet_free\.seed: .*greater"),
    ("runs/songnet_free/split", "train", r"runs\.songnet_free\.split: .*'dev' or 'test'"),
    ("runs/songnet_free/rules", "haiku", r"runs\.songnet_free\.rules: .*'songci' or 'sonnet'"),
    ("reports", "songnet", r"reports: "),
    ("sources/web/files/0/sha256", "abc", r"sources\.web\.files\.0\.sha256: "),
    ("sources/web/files/0/name", "../a", r"sources\.web\.files\.0\.name: must be a plain relative path"),
    ("sources/web/files/0/urls", ["ftp://example.org"], r"sources\.web\.files\.0\.urls\.0: must begin with https"),
    # parsers: one model, from one place
    ("parsers/words/extra", 1, r"parsers\.words\.extra: .*allowed: backend, language, model, options"),
    ("parsers/words/backend", "stanza", r"parsers\.words\.backend: unknown backend 'stanza'; allowed: benepar, .*ltp"),
    ("parsers/words/backend", "benepar", r"parsers\.words: neither a model nor a treebank; model: a name"),
    ("parsers/words/model", "dict", r"parsers\.words: jieba takes no model"),
    ("parsers/words", PARSER | {"model": "x", "treebank": "lines"}, r"parsers\.words: both a model and a treebank"),
    ("parsers/words", PARSER | {"treebank": "tiny"}, r"parsers\.words\.treebank: corpus tiny is of task verse"),
    (
        "parsers/words",
        PARSER | {"treebank": "lines"},
        r"parsers\.words\.treebank: the trees of corpus lines are a pars",
    ),
    ("annotations/again/paper", "other", r"annotations\.again\.paper: run songnet_free is of paper songnet"),
    (
        "datasets/linearize/tiny/corpus",
        "lines",
        r"datasets\.linearize\.tiny\.corpus: corpus lines is of task sentences",
    ),
    # something missing
    ("models", DELETED, r"params.yaml: models: Field required; add it"),
    ("runs/songnet_free/model", DELETED, r"runs\.songnet_free\.model: Field required; add it"),
    # a reference to what is not there; what is there is listed
    ("corpora/tiny/source_1", "moon", r"corpora\.tiny\.source_1: unknown reference 'moon'; allowed: none, web"),
    ("corpora/tiny/source_2", "moon", r"corpora\.tiny\.source_2: unknown reference"),
    ("corpora/tiny/parser", "moon", r"corpora\.tiny\.parser: unknown reference 'moon'; allowed: none, words"),
    ("corpora/tiny/source_9", "moon", r"corpora\.tiny\.source_9: unknown reference"),
    (
        "runs/songnet_free/guidance",
        "moon",
        r"\.guidance: .*allowed: guig/expanded, guig/written, none, songnet/songnet_free, .*, x2tree/grown$",
    ),
    ("runs/songnet_free/guidance", "songnet/songnet_no_s", r"runs\.songnet_free\.guidance: run .* another"),
    ("runs/songnet_free/lexicon", "moon", r"runs\.songnet_free\.lexicon: unknown reference 'moon'"),
    ("parsers/words/treebank", "moon", r"parsers\.words\.treebank: .*allowed: lines, none, said, talk, tiny"),
    (
        "annotations/again/run",
        "moon",
        r"annotations\.again\.run: .*allowed: expanded, grown, songnet_free, songnet_no_s, written",
    ),
    ("annotations/again/run", "none", r"annotations\.again\.run: unknown reference 'none'"),
    ("annotations/again/parser", "moon", r"annotations\.again\.parser: .*allowed: words"),
    (
        "datasets/linearize/tiny/corpus",
        "moon",
        r"datasets\.linearize\.tiny\.corpus: .*allowed: lines, said, talk, tiny$",
    ),
    ("datasets/linearize/tiny/corpus", "none", r"datasets\.linearize\.tiny\.corpus: unknown reference 'none'"),
    (
        "datasets/linearize/tiny/vocab_from",
        "moon",
        r"datasets\.linearize\.tiny\.vocab_from: .*allowed: none, said, tiny",
    ),
    ("models/songnet/dataset", "moon", r"models\.songnet\.dataset: .*allowed: said, talk, tiny"),
    (
        "models/songnet/init",
        "moon",
        r"models\.songnet\.init: .*allowed: expander, grower, none, songnet, songnet_no_s, writer",
    ),
    (
        "runs/songnet_free/model",
        "moon",
        r"runs\.songnet_free\.model: .*allowed: expander, grower, songnet, songnet_no_s, writer",
    ),
    ("runs/songnet_free/corpus", "moon", r"runs\.songnet_free\.corpus: .*allowed: lines, said, talk, tiny"),
    ("runs/grown/model", "songnet", r"\.grown\.model: model songnet writes the form verse; one that writes dialogue"),
    ("runs/grown/corpus", "tiny", r"runs\.grown\.corpus: corpus tiny is of task verse; a corpus of task pairs"),
    ("runs/songnet_free/annotation", "moon", r"runs\.songnet_free\.annotation: .*allowed: again, none"),
    ("runs/songnet_free/lm", "moon", r"runs\.songnet_free\.lm: .*allowed: expander, grower, none, songnet"),
    # a dataset of trees
    ("datasets/canonicalize", {"talk": {}}, r"datasets\.canonicalize\.talk\.form: Field required"),
    (
        "datasets/canonicalize",
        {"talk": TALK | {"corpus": "tiny"}},
        r"corpus tiny is of task verse; a corpus of task pairs",
    ),
    (
        "datasets/canonicalize",
        {"talk": TALK | {"vocab_from": "tiny"}},
        r"canonicalize\.talk\.vocab_from: .*allowed: none",
    ),
    ("datasets/canonicalize", {"talk": TALK | {"coverage": 0}}, r"canonicalize\.talk\.coverage: .*greater than 0"),
    ("datasets/canonicalize", {"said": TALK}, r"said stands under linearize and under canonicalize; rename one"),
]


@pytest.mark.parametrize(("key", "value", "message"), MISTAKES, ids=[f"{key}={value}" for key, value, _ in MISTAKES])
def test_a_mistake_names_its_path_and_what_is_allowed(
    tmp_path: Path, nursery_text: str, key: str, value: Any, message: str
) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(changed(nursery_text, key, value)), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_params(path)
    line = str(caught.value)
    assert "\n" not in line and len(line) < 500
    assert re.search(message, line), line


def test_the_unspoiled_file_is_right(tmp_path: Path, nursery_text: str) -> None:
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(changed(nursery_text, "root", ".")), encoding="utf-8")
    assert list(load_params(path).models) == ["expander", "grower", "songnet", "songnet_no_s", "writer"]


def test_a_mistake_in_the_catalogue_is_told_of_the_catalogue(tmp_path: Path, nursery_text: str) -> None:
    (tmp_path / "params.yaml").write_text(nursery_text, encoding="utf-8")
    (tmp_path / "sources.yaml").write_text("sources:\n  web: {licence: MIT, citation: x, extra: 1}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"sources\.yaml: sources\.web\."):
        load_params(tmp_path / "params.yaml")


@pytest.mark.parametrize("name", ["params.yaml", "sources.yaml"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: [1", "not YAML"),
        (b"a: b: c", "not YAML"),
        (b"\ttab: 1", "not YAML"),
        (b"\xff\xfe\x00", "not YAML"),
        (b"!!python/object/apply:os.system [id]", "not YAML"),
        (b"- a list", "not a mapping"),
        (b"", "not a mapping"),
    ],
)
def test_a_file_that_is_no_mapping_is_one_line(
    tmp_path: Path, nursery_text: str, name: str, data: bytes, message: str
) -> None:
    (tmp_path / "params.yaml").write_text(nursery_text, encoding="utf-8")
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ConfigError, match=f"{name}: {message}") as caught:
        load_params(tmp_path / "params.yaml")
    assert "\n" not in str(caught.value)


def test_a_missing_file_says_where_to_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"params.yaml: no such file; run in the project's root or a profile's"):
        load_params(tmp_path / "params.yaml")


def test_an_unknown_entry_lists_those_there_are() -> None:
    with pytest.raises(ConfigError, match="unknown run 'x'; allowed: a, b"):
        entry("run", {"b": 1, "a": 2}, "x")
    with pytest.raises(ConfigError, match=r"allowed: \(none defined\)"):
        entry("run", {}, "x")


@pytest.fixture(scope="module", params=PROFILES, ids=lambda path: path.name if path != ROOT else "nursery")
def profile(request: pytest.FixtureRequest) -> tuple[Path, Params]:
    return request.param, load_params(request.param / "params.yaml")


def test_every_profile_is_right_and_is_the_one_that_its_folder_says(profile: tuple[Path, Params]) -> None:
    folder, params = profile
    assert params.profile == ("nursery" if folder == ROOT else folder.name)
    assert (folder / params.root).resolve() == ROOT


def test_every_network_training_and_decoder_of_a_profile_can_be_built(profile: tuple[Path, Params]) -> None:
    from espalier.decoding.dialogue import DialogueDecoder
    from espalier.decoding.paraphrase import PairDecoder
    from espalier.decoding.verse import VerseDecoder

    from espalier.models.registry import architecture

    decoders: dict[str, type[BaseModel]] = {"verse": VerseDecoder, "paraphrase": PairDecoder}
    decoders["dialogue"] = DialogueDecoder
    _, params = profile
    for key, model in params.models.items():
        kind = architecture(model.arch, where=f"models.{key}.arch")
        network: Any = validated(kind.config, model.network, f"models.{key}.network")
        validated(TrainingConfig, model.training, f"models.{key}.training")
        dataset = params.datasets.every[model.dataset]
        more = {"paraphrase": 2, "dialogue": 1}
        longest = dataset.max_tokens if dataset.form == "verse" else dataset.most + more[dataset.form]
        longest *= 3 if model.arch == "scpn" else 1
        assert network.positions >= longest, f"models.{key}: {longest} tokens, {network.positions} positions"
    for key, run in params.runs.items():
        decoder: Any = validated(decoders[run.form], run.decoder, f"runs.{key}.decoder")
        assert run.form != "dialogue" or run.samples <= decoder.beam, key
        dataset = params.datasets.every[params.models[run.model].dataset]
        assert params.corpora[run.corpus].language == params.corpora[dataset.corpus].language, key
        assert run.paper == params.models[run.model].paper or run.paper in params.reports, key


def test_every_reader_report_and_default_of_a_profile_exists(profile: tuple[Path, Params]) -> None:
    _, params = profile
    for key, corpus in params.corpora.items():
        assert corpus.reader in READERS, key
        assert (corpus.source_1 != "none") == READERS[corpus.reader].reads_sources, key
    for paper in params.reports:
        assert (ROOT / f"report/printed/{paper}.yaml").exists()
    defaults = [name for model in params.models.values() for name in model.default_for]
    assert len(defaults) == len(set(defaults)), "two models are the default for one command"
    commands = r"(generate|polish|reply)\.(zh|en)|(paraphrase|expand)\.en"
    assert {name for name in defaults if not re.fullmatch(commands, name)} == set()


def test_the_nursery_has_a_default_for_each_command() -> None:
    params = load_params(ROOT / "params.yaml")
    defaults = {name for model in params.models.values() for name in model.default_for}
    assert {"generate.zh", "polish.zh", "paraphrase.en", "reply.zh"} <= defaults


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"width": 10, "heads": 3}, "width 10 is no multiple of heads 3"),
        ({"symbols": ["c", "x"]}, r"network: symbols\.1: .*'c', 'p' or 's'"),
        ({"depth": 3}, r"network: depth: unknown key 'depth'; allowed: activation, .*layers"),
        ({"layers": "two"}, r"network: layers: .*integer"),
    ],
)
def test_a_network_that_cannot_be_built_is_one_line(value: dict[str, Any], message: str) -> None:
    from espalier.models.songnet_config import SongNetConfig

    with pytest.raises(ConfigError, match=message) as caught:
        validated(SongNetConfig, value, "models.x.network")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ValidationError)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"mode": "wild"}, "decoder: mode: .*'free' or 'frame'"),
        ({"top_p": 0.9}, "unknown key 'top_p'; allowed: beam, length_power, marks"),
        ({"top_k": 0}, "top_k: .*greater"),
    ],
)
def test_a_decoder_that_cannot_be_is_one_line(value: dict[str, Any], message: str) -> None:
    from espalier.decoding.verse import VerseDecoder

    with pytest.raises(ConfigError, match=message):
        validated(VerseDecoder, value, "runs.x.decoder")
