"""params.yaml: what is wrong in it is one line that names the key's path and what may stand there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from espalier.io.errors import ConfigError
from espalier.io.registry import entry
from espalier.io.validation import validated
from espalier.models.songnet_config import SongNetConfig
from espalier.tasks.verse import VerseScoring
from espalier.tasks.verse_search import VerseDecoder
from espalier.training.config import TrainingConfig
from pipeline import layout
from pipeline.params.entries import Params
from pipeline.params.read import load_catalogue, load_params

sys.path.insert(0, str(Path(__file__).parent))
from small_params import corpus, dataset, nursery, parser, write
from small_params import model as model_entry

ROOT = Path(__file__).resolve().parents[2]
PROFILES = [ROOT, ROOT / "profiles/small", ROOT / "profiles/paper"]
DELETED = "(deleted)"
FILE = {"name": "a", "urls": ["https://example.org/a"], "sha256": "0" * 64, "bytes": 1, "mirror": "a"}
CATALOGUE: dict[str, Any] = {
    "sources": {"web": {"title": "T", "licence": "L", "citation": "C", "files": [FILE]}},
}


def place(folder: Path, tree: Any) -> Path:
    """A params.yaml beside a catalogue of one source."""
    (folder / layout.CATALOGUE).parent.mkdir(parents=True, exist_ok=True)
    (folder / layout.CATALOGUE).write_text(yaml.safe_dump(CATALOGUE), encoding="utf-8")
    return write(folder, tree)


def complete() -> dict[str, Any]:
    """The small nursery, with a published source, a local file, and a corpus of sentences that reads both."""
    tree = nursery()
    tree["sources"] = {
        "published": {"web": {"shelf": "lines/web"}},
        "local": {"own": {"shelf": "lines", "file": "mydata/lines.txt"}},
    }
    tree["corpora"]["lines"] = corpus(
        "zh", "penn", shelf="lines", also_1="raw/lines/web", also_2="corpora/tiny", parser="words",
        filters={"max_words": 40},
    )  # fmt: skip
    tree["datasets"]["linearize"]["other"] = dataset("verse", "tiny")
    return tree


def changed(key: str, value: Any, separator: str = "/") -> Any:
    tree = complete()
    change(tree, key, value, separator)
    return tree


def change(tree: Any, key: str, value: Any, separator: str = "/") -> None:
    *folders, last = [int(part) if part.isdecimal() else part for part in key.split(separator)]
    spot: Any = tree
    for name in folders:
        spot = spot[name]
    if value == DELETED:
        del spot[last]
    else:
        spot[last] = value


TALK = dataset("dialogue", "talk")
TITLES = {"kind": "title", "seed": 1, "dev_titles": 3, "test_titles": 3}
UNTRAINED = parser("benepar")

MISTAKES: list[tuple[str, Any, str]] = [
    # an unknown key, at each level; the keys that are allowed are listed
    ("extra", 1, r"params.yaml: unknown key 'extra'; allowed: annotations, baselines, catalogue, corpora"),
    ("corpora/tiny/extra", 1, r"corpora\.tiny: unknown key 'extra'; allowed: also_1, .*filters.*reader.*shelf"),
    ("corpora/tiny/filters/extra", 1, r"corpora\.tiny\.filters: unknown key 'extra'; allowed: .*min_units"),
    (
        "corpora/tiny/split/extra",
        1,
        r"corpora\.tiny\.split\.random: unknown key 'extra'; allowed: dev, kind, seed, test$",
    ),
    ("datasets/extra", {}, r"datasets: unknown key 'extra'; allowed: canonicalize, linearize"),
    (
        "datasets/linearize/tiny/extra",
        1,
        r"datasets\.linearize\.tiny: unknown key 'extra'; allowed: length, max_tokens, min_count",
    ),
    ("models/songnet/extra", 1, r"models\.songnet: unknown key 'extra'; allowed: arch, dataset"),
    (
        "models/songnet/network/depth",
        3,
        r"models\.songnet\.network: unknown key 'depth'; allowed: activation, .*layers",
    ),
    (
        "models/songnet/training/extra",
        1,
        r"models\.songnet\.training: unknown key 'extra'; allowed: batch_tokens, betas",
    ),
    ("runs/songnet_free/extra", 1, r"runs\.songnet_free: unknown key 'extra'; allowed: annotation, dataset, decoder"),
    (
        "runs/songnet_free/decoder/top_p",
        1,
        r"runs\.songnet_free\.decoder: unknown key 'top_p'; allowed: beam, book, length_power",
    ),
    (
        "runs/songnet_free/scoring/ruels",
        "sonnet",
        r"runs\.songnet_free\.scoring: unknown key 'ruels'; allowed: own_metrics, rhyme_rule, rules$",
    ),
    (
        "runs/songnet_free/scoring",
        {"own_metrics": {"mine": 1}},
        r"\.scoring: own_metrics: unknown metric 'mine'; metrics of your own: none, as no module below plugins",
    ),
    ("presets/guig/scoring", {"alphas": [1.2]}, r"\.scoring: alphas\.0: .*less than or equal to 1"),
    ("presets/guig/scoring", {"alphas": [0.8, 0.8]}, r"\.scoring: alphas: .*a value stands twice"),
    (
        "presets/guig/scoring",
        {"smoothing": "nltk_3_7"},
        r"\.scoring: smoothing: .*'nltk_3_4', 'nltk_3_5' or 'nltk_3_6'",
    ),
    ("presets/guig/scoring", {"families": ["bleu"]}, r"\.scoring: families\.0: .*'similarity', 'trees'"),
    (
        "presets/songnet/extra",
        {},
        r"presets\.songnet: unknown key 'extra'; allowed: decoder, network, scoring, training",
    ),
    ("sources/published/web/extra", 1, r"sources\.published\.web: unknown key 'extra'; allowed: shelf"),
    # a wrong type or value
    ("root", "/", r"params.yaml: root: .*'\.' or '\.\./\.\.'"),
    ("catalogue", "./sources.yaml", r"params.yaml: catalogue: .*'pipeline/params/sources\.yaml' or"),
    ("profile", "huge", r"params.yaml: profile: .*'nursery', 'small' or 'paper'"),
    ("corpora", [], r"params.yaml: corpora: .*dictionary"),
    ("corpora/tiny", 3, r"params.yaml: corpora\.tiny: "),
    ("corpora/tiny/reader", "moon", r"corpora\.tiny\.reader: unknown reader 'moon'; allowed: brown, chinese"),
    ("corpora/tiny/reader", "penn", r"corpora\.tiny\.shelf: reader penn reads files; name a shelf"),
    (
        "corpora/lines/reader",
        "news_en",
        r"corpora\.lines\.shelf: reader news_en reads no files; set it to none",
    ),
    ("corpora/tiny/reader", "songci", r"corpora\.tiny\.shelf: reader songci reads files; name a shelf"),
    ("corpora/tiny/filters/min_units", "many", r"corpora\.tiny\.filters\.min_units: .*integer"),
    ("corpora/tiny/filters/max_units", 1, r"corpora\.tiny\.filters: min_units 2 is greater than max_units 1"),
    (
        "corpora/lines/filters/min_units",
        2,
        r"corpora\.lines\.filters\.min_units: no rule for sentence rows; allowed: asc",
    ),
    ("corpora/tiny/split/kind", "odd", r"corpora\.tiny\.split: .*'random'"),
    ("corpora/tiny/split/dev", -1, r"corpora\.tiny\.split\.random\.dev: .*greater than or equal to 0"),
    ("datasets/linearize/tiny/units", 0, r"datasets\.linearize\.tiny: units: .*greater"),
    ("models/songnet/seeds", [], r"models\.songnet\.seeds: .*at least 1"),
    ("models/songnet/seeds", [-1], r"models\.songnet\.seeds\.0: .*greater than or equal to 0"),
    ("models/songnet/seeds", "one", r"models\.songnet\.seeds: "),
    ("models/songnet/network", [], r"models\.songnet\.network: .*dictionary"),
    ("models/songnet/network/layers", "two", r"models\.songnet\.network: layers: .*integer"),
    ("presets/songnet/network/layers", "two", r"models\.songnet\.network: layers: .*integer"),
    ("presets/songnet/training/steps", "many", r"models\.songnet\.training: steps: .*integer"),
    ("models/songnet/training/steps", 0, r"models\.songnet\.training: steps: .*greater"),
    ("models/songnet/training/schedule", "cosine", r"models\.songnet\.training: schedule: .*'noam', 'linear'"),
    ("presets/songnet/decoder/top_k", "all", r"runs\.songnet_free\.decoder: top_k: .*integer"),
    ("runs/songnet_free/decoder/mode", "wild", r"runs\.songnet_free\.decoder: mode: .*'free' or 'frame'"),
    ("runs/songnet_free/scoring/rules", "haiku", r"runs\.songnet_free\.scoring: rules: .*'songci' or 'sonnet'"),
    ("runs/songnet_free/samples", 0, r"runs\.songnet_free\.samples: .*greater"),
    ("runs/songnet_free/seed", -3, r"runs\.songnet_free\.seed: .*greater"),
    ("runs/songnet_free/split", "train", r"runs\.songnet_free\.split: .*'dev' or 'test'"),
    ("reports", "songnet", r"reports: "),
    ("reports", ["songnet", "nope"], r"reports: unknown reference 'nope'; allowed: cdnpg, guig"),
    ("reports", ["songnet", "songnet"], r"reports: a paper stands twice; name each paper once"),
    ("models/songnet/seeds", [1, 2, 1], r"models\.songnet\.seeds: .*a seed stands twice; give each seed once"),
    ("models/songnet/default_for", ["generate.fr"], r"songnet\.default_for: unknown command 'generate.fr'; allowed: "),
    ("models/songnet/default_for", ["reply.zh"], r"songnet\.default_for: model songnet serves .*; remove reply\.zh"),
    ("models/grower/default_for", ["generate.zh"], r"grower\.default_for: .*"),
    # sources and their shelves
    ("sources/published/moon", {"shelf": "sky"}, r"sources\.published\.moon: unknown reference 'moon'; allowed: web"),
    ("sources/published/web/shelf", "../up", r"sources\.published\.web\.shelf: .*pattern"),
    ("sources/local/own/file", "", r"sources\.local\.own\.file: .*at least 1"),
    ("sources/local/web", {"shelf": "a", "file": "b"}, r"sources: web stands under published and under local; rename"),
    ("sources/local/own/shelf", "lines/web/web/deep", r"sources: shelf lines/web/web/deep of own lies in .*source web"),
    ("corpora/lines/shelf", "sky", r"corpora\.lines: no source stands on shelf sky; .*with sources: lines, lines/web$"),
    ("corpora/lines/also_1", "raw/sky", r"corpora\.lines: no source stands on shelf sky"),
    ("corpora/lines/also_1", "lines", r"corpora\.lines\.also_1: .*pattern"),
    ("corpora/lines/also_2", "corpora/moon", r"corpora\.lines: unknown reference 'moon'; allowed: lines, said, talk"),
    # presets
    (
        "models/songnet/preset",
        "moon",
        r"models\.songnet\.preset: unknown preset 'moon'; allowed: ablation, guig, plain, sat, songnet",
    ),
    ("presets/songnet/preset", "guig", r"presets\.songnet: a preset names no preset; it names guig"),
    ("presets/songnet/preset", "songnet", r"presets\.songnet: a preset names no preset; it names songnet"),
    ("runs/songnet_free/preset", "plain", r"runs\.songnet_free\.preset: preset plain has no decoder and no scoring"),
    (
        "presets/songnet/training",
        DELETED,
        r"models\.songnet\.preset: preset songnet has no training; write training: {}",
    ),
    ("models/songnet/training", DELETED, r"models\.songnet\.training: Field required; add it"),
    # parsers: one model, from one place
    ("parsers/words/extra", 1, r"parsers\.words: unknown key 'extra'; allowed: backend, language, model, options"),
    ("parsers/words/backend", "stanza", r"parsers\.words\.backend: unknown backend 'stanza'; allowed: benepar, .*ltp"),
    ("parsers/words/backend", "benepar", r"parsers\.words: neither a model nor a treebank; model: a name"),
    ("parsers/words/model", "dict", r"parsers\.words: jieba takes no model"),
    ("parsers/words", UNTRAINED | {"model": "x", "treebank": "lines"}, r"parsers\.words: both a model and a treebank"),
    (
        "parsers/words",
        UNTRAINED | {"treebank": "tiny"},
        r"parsers\.words\.treebank: the records of corpus tiny are verse",
    ),
    (
        "parsers/words",
        UNTRAINED | {"treebank": "lines"},
        r"parsers\.words\.treebank: the trees of corpus lines are a pars",
    ),
    # something missing
    ("models", DELETED, r"params.yaml: models: Field required; add it"),
    ("runs/songnet_free/model", DELETED, r"runs\.songnet_free\.model: Field required; add it"),
    ("datasets/linearize/tiny/max_tokens", DELETED, r"datasets\.linearize\.tiny: max_tokens: Field required; add it"),
    # a reference to what is not there; what is there is listed
    ("corpora/tiny/parser", "moon", r"corpora\.tiny\.parser: unknown reference 'moon'; allowed: none, words"),
    (
        "runs/songnet_free/guidance",
        "moon",
        r"\.guidance: .*allowed: guig/expanded, guig/written, none, songnet/songnet_free, .*, x2tree/grown$",
    ),
    (
        "runs/songnet_free/decoder",
        {"mode": "frame", "rhyme": True, "book": "cilin"},
        r"runs\.songnet_free\.lexicon: this decoder looks words up in a source; name it, as forms/couyun",
    ),
    (
        "baselines/tiny/decoder",
        {"mode": "frame", "rhyme": True, "book": "cilin"},
        r"baselines\.tiny\.lexicon: this decoder looks words up in a source; name it, as forms/couyun",
    ),
    ("runs/songnet_free/lexicon", "moon", r"runs\.songnet_free\.lexicon: .*allowed: lines/own, lines/web/web, none"),
    ("parsers/words/treebank", "moon", r"parsers\.words\.treebank: .*allowed: lines, none, said, talk, tiny"),
    (
        "annotations/again/run",
        "moon",
        r"annotations\.again\.run: .*allowed: expanded, grown, songnet_free, songnet_no_s, written",
    ),
    ("annotations/again/run", "none", r"annotations\.again\.run: unknown reference 'none'"),
    ("annotations/again/parser", "moon", r"annotations\.again\.parser: .*allowed: words"),
    ("annotations/again/paper", "other", r"annotations\.again\.paper: run songnet_free is of paper songnet"),
    ("datasets/linearize/tiny/encoding", "moon", r"tiny\.encoding: unknown encoding 'moon'; allowed: dialogue, pairs"),
    (
        "datasets/linearize/tiny/corpus",
        "moon",
        r"datasets\.linearize\.tiny\.corpus: .*allowed: lines, said, talk, tiny$",
    ),
    ("datasets/linearize/tiny/corpus", "none", r"datasets\.linearize\.tiny\.corpus: unknown reference 'none'"),
    ("datasets/linearize/tiny/vocab_from", "moon", r"tiny\.vocab_from: .*allowed: none, other, said, tiny"),
    ("datasets/linearize/tiny/pieces_from", "moon/bert", r"tiny\.pieces_from: verse reads no pieces; set it to none"),
    (
        "datasets/linearize/said/pieces_from",
        "moon/bert",
        r"said\.pieces_from: .*'moon/bert'; allowed: lines",
    ),
    ("datasets/linearize/said/cut", True, r"linearize\.said: .*cut: true is for pairs without trees"),
    ("models/songnet/arch", "moon", r"models\.songnet\.arch: unknown arch 'moon'; allowed: cdnpg, "),
    ("models/songnet/dataset", "moon", r"models\.songnet\.dataset: .*allowed: other, said, talk, tiny"),
    ("models/songnet/init", "moon", r"models\.songnet\.init: .*allowed: expander, grower, none, songnet, songnet_no_s"),
    ("models/songnet/init", "grower", r"models\.songnet\.init: model grower is of arch x2tree; one of arch songnet"),
    (
        "models/songnet/training/init_vocab",
        "mapped",
        r"models\.songnet\.training\.init_vocab: no model whose vocabulary could be mapped; same, or name an init",
    ),
    (
        "runs/songnet_free/task",
        "moon",
        r"runs\.songnet_free\.task: unknown task 'moon'; allowed: compose, dialogue, paraphrase",
    ),
    (
        "runs/songnet_free/model",
        "moon",
        r"runs\.songnet_free\.model: .*allowed: expander, grower, songnet, songnet_no_s",
    ),
    ("runs/songnet_free/dataset", "moon", r"runs\.songnet_free\.dataset: .*allowed: other, said, talk, tiny"),
    ("runs/songnet_free/annotation", "moon", r"runs\.songnet_free\.annotation: .*allowed: again, none"),
    ("runs/songnet_free/lm", "moon", r"runs\.songnet_free\.lm: .*allowed: expander, grower, none, songnet"),
    # entries that do not fit together
    (
        "datasets/linearize/tiny/corpus",
        "lines",
        r"tiny\.corpus: the records of corpus lines are sentences, .*a corpus of verse",
    ),
    ("datasets/linearize/said/vocab_from", "tiny", r"said\.vocab_from: dataset tiny has the encoding verse; one with"),
    ("datasets/linearize/tiny/vocab_from", "tiny", r"vocab_from forms a cycle: tiny -> tiny"),
    (
        "models/songnet/dataset",
        "said",
        r"models\.songnet\.dataset: dataset said has the encoding pairs, and songnet reads",
    ),
    (
        "runs/grown/model",
        "songnet",
        r"runs\.grown\.model: model songnet reads the encoding verse, which task dialogue does",
    ),
    (
        "runs/songnet_free/dataset",
        "other",
        r"dataset: dataset other does not have the vocabulary of model songnet; tiny, or a",
    ),
    (
        "runs/songnet_free/guidance",
        "songnet/songnet_no_s",
        r"runs\.songnet_free\.guidance: run .* another dataset, split",
    ),
    (
        "runs/songnet_free/decoder/slack",
        60,
        r"runs\.songnet_free\.decoder: texts of up to 260 tokens, of a model that has 250",
    ),
    ("runs/grown/samples", 4, r"runs\.grown\.samples: 4 replies of 3 beams; at most 3"),
    # what a run needs to be scored
    ("presets/songnet/scoring", {}, r"runs\.songnet_free\.scoring: rules: Field required; add it"),
    (
        "runs/written/annotation",
        "none",
        r"runs\.written\.annotation: texts of task paraphrase are scored by their parses",
    ),
    (
        "runs/written/annotation",
        "again",
        r"runs\.written\.annotation: annotation again parses run songnet_free; one with",
    ),
    ("baselines", {}, r"songnet_free.dataset: the report of songnet has no baselines on dataset tiny; an"),
    # a dataset of trees
    ("datasets/canonicalize", {"talk": {}}, r"datasets\.canonicalize\.talk\.encoding: Field required"),
    ("datasets/canonicalize", {"talk": TALK | {"coverage": 0}}, r"canonicalize\.talk: coverage: .*greater than 0"),
    ("datasets/canonicalize", {"said": TALK}, r"said stands under linearize and under canonicalize; rename one"),
    # bounds that cross: no row would be left
    (
        "datasets/linearize/tiny/units",
        1,
        r"tiny\.units: no row fits both units 1 and min_units 2, a filter of corpus tiny; change one",
    ),
    (
        "corpora/tiny/filters/min_tokens",
        201,
        r"linearize\.\w+\.max_tokens: no row fits both max_tokens 200 and min_",
    ),
    (
        "corpora/talk/filters/min_words",
        25,
        r"talk\.max_words: no row fits both max_words 24 and min_words 25, a f",
    ),
    (
        "corpora/said/filters/min_words",
        51,
        r"said\.max_length: no row fits both max_length 50 and min_words 51, a ",
    ),
    ("datasets/linearize/said/min_length", 51, r"said: min_length 51 is greater than max_length 50"),
    ("datasets/canonicalize/talk/min_words", 25, r"talk: min_words 25 is greater than max_words 24"),
    (
        "corpora/tiny/split",
        TITLES | {"dev_size": 2},
        r"split\.title: dev_titles 3 have more rows than dev_size 2 a",
    ),
    # a source's folder is not where the file of no source lies
    ("sources/local/own/shelf", "none", r"sources: own\.shelf: none is no shelf; rename the shelf"),
    ("sources/published/web/shelf", "none/web", r"sources: web\.shelf: none is no shelf"),
]


@pytest.mark.parametrize(("key", "value", "message"), MISTAKES, ids=[f"{key}={value}" for key, value, _ in MISTAKES])
def test_a_mistake_names_its_path_and_what_is_allowed(tmp_path: Path, key: str, value: Any, message: str) -> None:
    path = place(tmp_path, changed(key, value))
    with pytest.raises(ConfigError) as caught:
        load_params(path)
    line = str(caught.value)
    assert "\n" not in line and len(line) < 500
    assert re.search(message, line), line


def test_the_unspoiled_tree_is_right_and_entries_lie_over_their_presets(tmp_path: Path) -> None:
    tree = complete()
    tree["models"]["songnet"]["network"] = {"layers": 3}
    tree["runs"]["songnet_free"]["scoring"] = {"rules": "sonnet"}
    params = load_params(place(tmp_path, tree))
    preset, free = tree["presets"]["songnet"], params.runs["songnet_free"]
    assert params.models["songnet"].network == SongNetConfig(**preset["network"] | {"layers": 3})
    assert params.models["songnet_no_s"].network == SongNetConfig(**preset["network"] | {"symbols": ["c", "p"]})
    assert params.models["songnet"].training == TrainingConfig(**preset["training"])
    assert (free.decoder, free.scoring) == (VerseDecoder(**preset["decoder"]), VerseScoring(rules="sonnet"))
    assert free.written == {"decoder": preset["decoder"], "scoring": {"rules": "sonnet"}}
    assert params.datasets.every["tiny"].settings.max_tokens == 200


def test_a_shelf_holds_its_sources_and_those_of_shelves_nested_in_it(tmp_path: Path) -> None:
    params = load_params(place(tmp_path, complete()))
    both = {"web": Path("data/raw/lines/web/web"), "own": Path("data/raw/lines/own")}
    assert params.sources.folders("lines") == both
    assert params.sources.folders("lines/web") == {"web": both["web"]}
    assert params.sources.folders("line") == {}
    lines = params.corpora["lines"]
    assert (lines.shelves, lines.corpora) == (("lines", "lines/web"), ("tiny",))
    assert (params.corpora["tiny"].shelves, params.corpora["tiny"].corpora) == ((), ())
    assert load_catalogue(params, tmp_path)["web"].title == "T"


def test_a_dataset_of_another_corpus_with_the_model_s_vocabulary_may_be_decoded(tmp_path: Path) -> None:
    tree = complete()
    tree["datasets"]["linearize"] |= {"far": dataset("verse", "tiny", vocab_from="other")}
    tree["datasets"]["linearize"]["other"]["vocab_from"] = "tiny"
    tree["runs"]["songnet_free"]["dataset"] = tree["baselines"]["tiny"]["dataset"] = "far"
    tree["runs"]["songnet_no_s"]["dataset"] = "far"
    assert load_params(place(tmp_path, tree)).runs["songnet_free"].dataset == "far"


def test_a_corpus_of_shorter_texts_than_its_dataset_takes_is_one_line(tmp_path: Path) -> None:
    tree = changed("datasets/canonicalize/talk/min_words", 3)
    tree["corpora"]["talk"]["filters"]["max_words"] = 2
    message = (
        r"talk\.min_words: no row fits both min_words 3 and max_words 2, a filter of corpus talk; change one of them"
    )
    with pytest.raises(ConfigError, match=message):
        load_params(place(tmp_path, tree))


MAPS = [
    "sources/published", "sources/local", "parsers", "corpora", "datasets/linearize", "datasets/canonicalize",
    "presets", "models", "runs", "baselines", "annotations",
]  # fmt: skip


@pytest.mark.parametrize("key", ["../../esc", "a/b", "a.b", "-a", "", " a", "a\n", "${root}", "a" * 65, "none"])
@pytest.mark.parametrize("name", MAPS)
def test_a_key_that_is_no_name_of_a_folder_or_stage_is_one_line(tmp_path: Path, name: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_params(place(tmp_path, changed(f"{name.replace('/', '|')}|{key}", {}, "|")))
    line, place_ = str(caught.value), name.replace("/", r"\.")
    assert re.search(rf"params\.yaml: {place_}: '.*' (cannot be a name|means no entry).*; rename it$", line), line
    assert "\n" not in line and len(line) < 300


@pytest.mark.parametrize("paper", ["../up", "none", ""])
@pytest.mark.parametrize("path", ["models/songnet", "runs/songnet_free", "baselines/tiny", "annotations/again"])
def test_a_paper_that_is_no_name_of_a_folder_is_one_line(tmp_path: Path, path: str, paper: str) -> None:
    with pytest.raises(ConfigError, match=rf"{path.replace('/', '.')}\.paper: .*cannot be a name"):
        load_params(place(tmp_path, changed(f"{path}/paper", paper)))
    with pytest.raises(ConfigError, match=r"reports\.0: .*cannot be a name"):
        load_params(place(tmp_path, changed("reports", [paper])))


def test_a_name_may_have_letters_digits_underscores_and_hyphens(tmp_path: Path) -> None:
    tree = complete()
    tree["corpora"]["詩-2_a"] = {**tree["corpora"]["lines"], "also_2": "none"}
    tree["corpora"]["lines"]["also_2"] = "corpora/詩-2_a"
    assert load_params(place(tmp_path, tree)).corpora["lines"].corpora == ("詩-2_a",)


def test_a_value_that_is_too_long_to_show_is_cut(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_params(place(tmp_path, changed("profile", "huge" * 100_000)))
    assert len(str(caught.value)) < 500
    with pytest.raises(ConfigError) as caught:
        load_params(place(tmp_path, changed("huge" * 10_000, 1)))
    assert len(str(caught.value)) < 700


def test_a_treebank_of_an_unknown_reader_is_one_line(tmp_path: Path) -> None:
    tree = changed("parsers/chart", UNTRAINED | {"treebank": "said"})
    tree["corpora"]["said"]["reader"] = "moon"
    with pytest.raises(ConfigError, match=r"corpora\.said\.reader: unknown reader 'moon'; allowed: "):
        load_params(place(tmp_path, tree))


@pytest.mark.parametrize(
    ("changes", "cycle"),
    [
        (
            {"datasets/linearize/tiny/vocab_from": "other", "datasets/linearize/other/vocab_from": "tiny"},
            "vocab_from forms a cycle: tiny -> other -> tiny",
        ),
        ({"models/songnet/init": "songnet"}, "init forms a cycle: songnet -> songnet"),
        (
            {"models/songnet/init": "songnet_no_s", "models/songnet_no_s/init": "songnet"},
            "init forms a cycle: songnet -> songnet_no_s -> songnet",
        ),
        ({"runs/written/guidance": "guig/written"}, "guidance forms a cycle: written -> written"),
        (
            {"runs/expanded/guidance": "guig/written"},
            "guidance forms a cycle: expanded -> written -> expanded",
        ),
        (
            {"corpora/lines/also_2": "corpora/lines"},
            "also_1, also_2, parser or treebank forms a cycle: corpora.lines -> corpora.lines",
        ),
        (
            {
                "parsers/chart": UNTRAINED | {"treebank": "gold"},
                "corpora/gold": corpus("zh", "penn", shelf="lines", also_1="corpora/lines"),
                "corpora/lines/parser": "chart",
            },
            "treebank forms a cycle: corpora.lines -> parsers.chart -> corpora.gold -> corpora.lines",
        ),
    ],
)
def test_what_is_made_from_itself_is_one_line(tmp_path: Path, changes: dict[str, Any], cycle: str) -> None:
    tree = complete()
    for key, value in changes.items():
        change(tree, key, value)
    with pytest.raises(ConfigError) as caught:
        load_params(place(tmp_path, tree))
    assert f"{cycle}; set one of them to none" in str(caught.value)


PLAIN = {"symbols": [], "global_attention": False}


def with_judge(**changes: Any) -> dict[str, Any]:
    """The complete tree, whose run songnet_free and whose rows tiny are judged by a plain decoder of its own seed."""
    tree = complete()
    judge = model_entry("songnet", "tiny", PLAIN, preset="songnet", seeds=[9])
    judge["network"] = {**PLAIN, "positions": 300}
    tree["models"]["judge"] = judge | changes
    tree["runs"]["songnet_free"]["lm"] = tree["baselines"]["tiny"]["lm"] = "judge"
    return tree


def test_a_plain_decoder_of_another_seed_may_judge(tmp_path: Path) -> None:
    params = load_params(place(tmp_path, with_judge()))
    assert params.runs["songnet_free"].lm == params.baselines["tiny"].lm == "judge"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"models/judge/network": {"positions": 300}},
            r"runs\.songnet_free\.lm: a judge that reads the format knows where marks stand; a model with",
        ),
        (
            {"models/judge/network": {**PLAIN, "positions": 100}},
            r"runs\.songnet_free\.lm: texts of up to \d+ tokens, of a judge that has 100 positions; raise",
        ),
        (
            {"models/songnet/network": {**PLAIN, "positions": 300}},
            r"runs\.songnet_free\.lm: the judge judge has the network of the judged model songnet; a plain decoder of",
        ),
        (
            {"models/judge/seeds": [4, 1]},
            r"\.lm: the judge judge has seed 1 of the judged model songnet; a plain dec",
        ),
        (
            {"models/songnet/network": {**PLAIN, "positions": 300}, "runs/songnet_free/lm": "songnet"},
            r"runs\.songnet_free\.lm: the judge is the judged model songnet; a plain",
        ),
        (
            {"models/songnet/init": "judge"},
            r"lm: the judge judge and the judged model songnet share initial weights, of (judge|songnet); a plain",
        ),
        (
            {"models/judge/init": "songnet"},
            r"lm: the judge judge and the judged model songnet share initial weights, of (judge|songnet); a plain",
        ),
        ({"runs/songnet_free/lm": "writer"}, r"lm: model writer does not read such texts; a model of verse in the lan"),
        ({"runs/grown/lm": "judge"}, r"runs\.grown\.lm: texts of task dialogue have no judge; set it to none"),
        (
            {"baselines/said/lm": "writer"},
            r"baselines\.said\.lm: texts of task paraphrase have no judge; set",
        ),
        ({"baselines/tiny/lm": "moon"}, r"baselines\.tiny\.lm: unknown reference 'moon'"),
    ],
)
def test_a_judge_that_cannot_judge_is_one_line(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    tree = with_judge()
    for key, value in changes.items():
        change(tree, key, value)
    with pytest.raises(ConfigError) as caught:
        load_params(place(tmp_path, tree))
    assert re.search(message, line := str(caught.value)) and "\n" not in line, line


def test_a_judge_that_starts_from_the_model_that_the_judged_one_starts_from_is_one_line(tmp_path: Path) -> None:
    tree = with_judge(init="older")
    tree["models"]["older"] = {**tree["models"]["judge"], "init": "none", "seeds": [8]}
    tree["models"]["songnet"]["init"] = "older"
    with pytest.raises(ConfigError, match="judge and the judged model songnet share initial weights, of older; a pl"):
        load_params(place(tmp_path, tree))


def test_a_judge_of_another_language_is_one_line(tmp_path: Path) -> None:
    tree = with_judge(dataset="english")
    tree["corpora"]["english"] = corpus("en", "verse_en")
    tree["datasets"]["linearize"]["english"] = dataset("verse", "english")
    with pytest.raises(ConfigError, match=r"lm: model judge does not read such texts; a model of verse in the lang"):
        load_params(place(tmp_path, tree))


def test_a_judge_of_another_split_is_one_line(tmp_path: Path) -> None:
    tree = with_judge(dataset="drawn_anew")
    tree["datasets"]["linearize"]["drawn_anew"] = dict(tree["datasets"]["linearize"]["tiny"])
    message = r"lm: model judge is trained on drawn_anew, which may contain the test texts of tiny; a model trained on "
    with pytest.raises(ConfigError, match=message):
        load_params(place(tmp_path, tree))
    tree["datasets"]["linearize"]["tiny"]["vocab_from"] = "drawn_anew"
    load_params(place(tmp_path, tree))


def test_a_long_chain_is_no_cycle(tmp_path: Path) -> None:
    tree = complete()
    for number in range(300):
        init = f"songnet{number - 1}" if number else "songnet"
        tree["models"][f"songnet{number}"] = tree["models"]["songnet"] | {"init": init, "default_for": []}
    assert load_params(place(tmp_path, tree)).models["songnet299"].init == "songnet298"


@pytest.mark.parametrize("number", ["1e-05", "1.0e-5", "0.00001"])
def test_a_number_is_read_as_dvc_reads_it(tmp_path: Path, number: str) -> None:
    from dvc.utils.serialize import load_yaml

    tree = complete()
    tree["presets"]["songnet"]["training"]["epsilon"] = 0.5
    path = place(tmp_path, tree)
    path.write_text(path.read_text(encoding="utf-8").replace("epsilon: 0.5", f"epsilon: {number}"), encoding="utf-8")
    read = load_params(path).models["songnet"].training.epsilon
    assert read == 0.00001 == load_yaml(path)["presets"]["songnet"]["training"]["epsilon"]


PLUGIN = """
from espalier.tasks.registry import TASKS
TASKS["mine"] = TASKS["verse"]
"""


def test_a_plugin_registers_before_the_file_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from espalier.tasks.registry import TASKS

    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "registers_a_task.py").write_text(PLUGIN, encoding="utf-8")
    tree = complete()
    tree["runs"]["songnet_free"]["task"] = "mine"
    with pytest.raises(ConfigError, match="unknown task 'mine'"):
        load_params(place(tmp_path, tree))
    tree["plugins"] = ["registers_a_task"]
    try:
        assert load_params(place(tmp_path, tree)).runs["songnet_free"].task == "mine"
    finally:
        TASKS.pop("mine", None)


@pytest.mark.parametrize(
    ("plugins", "message"),
    [
        (["is_not_there"], r"params.yaml: plugins: cannot import is_not_there \(ModuleNotFoundError: .*name a module"),
        (["cannot_be_read"], r"params.yaml: plugins: cannot import cannot_be_read \(SyntaxError: "),
        ("json", r"params.yaml: plugins: .*tuple"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugins: Any, message: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "cannot_be_read.py").write_text("def", encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as caught:
        load_params(place(tmp_path, complete() | {"plugins": plugins}))
    assert "\n" not in str(caught.value)


def test_reading_params_imports_no_torch() -> None:
    code = "import sys; from pipeline.params.read import load_params; load_params(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "False\n", done.stderr


def test_a_mistake_in_the_catalogue_is_told_of_the_catalogue(tmp_path: Path) -> None:
    path = place(tmp_path, complete())
    (tmp_path / "pipeline/params/sources.yaml").write_text(
        "sources:\n  web: {licence: MIT, citation: x, extra: 1}\n", encoding="utf-8"
    )
    with pytest.raises(ConfigError, match=r"sources\.yaml: sources\.web: "):
        load_params(path)


@pytest.mark.parametrize("name", ["params.yaml", "pipeline/params/sources.yaml"])
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
def test_a_file_that_is_no_mapping_is_one_line(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    path = place(tmp_path, complete())
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ConfigError, match=rf"{name}(, line [12])?: {message}") as caught:
        load_params(path)
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


def test_a_model_s_rows_fit_its_positions_and_a_run_is_of_its_model_s_language(profile: tuple[Path, Params]) -> None:
    _, params = profile
    datasets = params.datasets.every
    for key, model in params.models.items():
        settings = datasets[model.dataset].settings
        match datasets[model.dataset].encoding:
            case "verse":
                longest = settings.max_tokens
            case "pairs":  # two marks; in brackets three symbols a node
                longest = (settings.max_length + 2) * (3 if model.arch == "scpn" else 1)
            case "structure":  # one mark
                longest = settings.max_length + 1
            case _:  # one mark
                longest = settings.max_words + 1
        assert model.network.positions >= longest, f"models.{key}: {longest} tokens"
    for key, run in params.runs.items():
        corpora = [params.corpora[datasets[name].corpus] for name in (run.dataset, params.models[run.model].dataset)]
        assert corpora[0].language == corpora[1].language, key
        # A card's runs are of no report.
        assert run.paper in {params.models[run.model].paper, *params.reports, "released"}, key


def test_every_report_and_default_of_a_profile_exists(profile: tuple[Path, Params]) -> None:
    _, params = profile
    for paper in params.reports:
        assert (ROOT / f"papers/printed/{paper}.yaml").exists()
    defaults = [name for model in params.models.values() for name in model.default_for]
    assert len(defaults) == len(set(defaults)), "two models are the default for one command"
    commands = r"(generate|polish|reply|compose)\.(zh|en)|(paraphrase|expand|granularity)\.en"
    assert {name for name in defaults if not re.fullmatch(commands, name)} == set()


def test_the_nursery_has_a_default_for_each_command_and_downloads_nothing() -> None:
    params = load_params(ROOT / "params.yaml")
    defaults = {name for model in params.models.values() for name in model.default_for}
    assert {"generate.zh", "polish.zh", "paraphrase.en", "reply.zh", "compose.zh", "compose.en"} <= defaults
    assert not params.sources.every


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"width": 10, "heads": 3}, "width 10 is no multiple of heads 3"),
        ({"symbols": ["c", "x"]}, r"network: symbols\.1: .*'c', 'p', 's' or 't'"),
        ({"depth": 3}, r"network: unknown key 'depth'; allowed: activation, .*layers"),
    ],
)
def test_a_network_that_cannot_be_built_is_one_line(value: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        validated(SongNetConfig, value, "models.x.network")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ValidationError)
