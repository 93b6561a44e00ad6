"""docs/extend.md, from top to bottom, on a small nursery: its files are written, its stages run in this process."""

from __future__ import annotations

import csv
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, get_type_hints

import pytest
import yaml

import espalier
from espalier.corpora.readers import READERS
from espalier.corpora.readers.framing import ENCODINGS, Framing
from espalier.corpora.records import Pair
from espalier.io.errors import ConfigError
from espalier.io.files import read_json
from espalier.io.registry import imported
from espalier.io.tables import read_table
from espalier.io.validation import options_of
from pipeline import layout
from pipeline.params import plugins
from pipeline.params.entries import Annotation, Baseline, Corpus, Dataset, LocalFile, Model, ParserEntry, Run

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from markdown_page import Page, key_of

ROOT = Path(__file__).resolve().parents[2]
PAGE = Page("docs/extend.md")
#: What the page's files hold, in small; and the models, so that all train in seconds.
PAIRS, POEMS, TESTED = 60, 40, {"dev": 6, "test": 12}
TINY_PARSER = {"epochs": 1, "width": 16, "heads": 2, "key": 8, "inner": 16, "character": 8, "hidden": 16}
TINY = {"network": {"layers": 1, "width": 32, "heads": 4, "inner": 16}, "training": {"steps": 4, "evaluate_every": 4}}
Cli = Callable[..., Any]


def merge(tree: dict[str, Any], more: dict[str, Any]) -> None:
    """What stands below a key goes below the same key."""
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(tree.get(key), dict):
            merge(tree[key], value)
        else:
            tree[key] = tree[key] + value if isinstance(tree.get(key), list) else value


def add(file: Path, more: dict[str, Any]) -> None:
    tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    merge(tree, more)
    file.write_text(yaml.safe_dump(tree, allow_unicode=True, sort_keys=False), encoding="utf-8")


def blocks() -> Iterator[tuple[str, list[str]]]:
    """The fenced blocks of the page in their order, each with its language."""
    for language, body in re.findall(r"```(yaml|python|sh)\n(.*?)```", PAGE.text, re.S):
        yield language, body.splitlines()


def printed(command: str) -> str:
    """What the page shows below this command."""
    found = re.search(rf"```console\n\$ {re.escape(command)}\n(.*?)```", PAGE.text, re.S)
    assert found is not None, command
    return found[1]


def forget() -> None:
    """As in a new process: the page's modules are not imported, and nothing of theirs is registered."""
    for name in [name for name in sys.modules if name == "mine" or name.startswith("mine.")]:
        del sys.modules[name]
    for key, own in (("ARCHITECTURES", "verse_lstm"), ("METRICS", "words"), ("TASKS", "distinct_verse")):
        plugins.REGISTRIES[key].pop(own, None)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with the nursery's parser and presets, and a user's two files."""
    from espalier.nursery.paraphrase_en import grow as grow_pairs
    from espalier.nursery.verse_en import grow as grow_verse

    nursery = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    for key in ("runs", "baselines", "annotations", "protocols"):
        nursery[key] = {}
    nursery["models"] = {name: nursery["models"][name] for name in ("guig_tg", "guig_se")}  # which the page copies
    pairs_en = {"paraphrase_en": nursery["datasets"]["linearize"]["paraphrase_en"]}
    nursery |= {"reports": [], "datasets": {"linearize": pairs_en, "canonicalize": {}}}
    nursery["corpora"] = {"paraphrase_en": nursery["corpora"]["paraphrase_en"]}
    nursery["corpora"]["paraphrase_en"]["options"]["count"] = PAIRS
    nursery["corpora"]["paraphrase_en"]["split"] |= TESTED
    nursery["parsers"] = {"constituency_en": nursery["parsers"]["constituency_en"]}
    nursery["parsers"]["constituency_en"]["training"] |= TINY_PARSER
    for name in ("guig", "songnet"):
        merge(nursery["presets"][name], TINY)
    nursery["presets"]["guig"]["network"] |= {"head_width": 8}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(nursery, sort_keys=False), encoding="utf-8")
    (tmp_path / layout.VERSIONS).parent.mkdir(parents=True)
    for name in (layout.VERSIONS, layout.CATALOGUE, "dvc.yaml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "mydata").mkdir()
    grown = [row for row in grow_pairs(count=PAIRS, seed=7) if isinstance(row, Pair)]
    pairs = [[row.source, row.target, row.group, "1"] for row in grown]
    others = [[first.source, second.target, "", "0"] for first, second in zip(grown, grown[20:26], strict=False)]
    with (tmp_path / "mydata/pairs.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["source", "target", "group", "paraphrase"], *pairs[:1], *others, ["", ""], *pairs[1:]]
        )
    poems = ["\n".join(row.target.split("\n")[:4]) for row in grow_verse(count=POEMS, seed=7)]
    (tmp_path / "mydata/poems.txt").write_text("\n\n".join(poems), encoding="utf-8")
    monkeypatch.setattr(layout, "ROOT", tmp_path)
    monkeypatch.setattr(plugins, "ROOT", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    forget()


def stages_of(folder: Path, targets: list[str]) -> list[tuple[str, str]]:
    """The stages that these need, in an order in which they can run, by dvc.yaml."""
    from dvc.repo import Repo

    for command in (["git", "init", "-q"], ["dvc", "init", "-q"]):
        if not (folder / f".{command[0]}").exists():
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
    graph = Repo(str(folder)).index.graph
    needs = {stage.name: {other.name for other in graph.successors(stage)} for stage in graph}
    wanted, queue = set[str](), list(targets)
    while queue:
        stage = queue.pop()
        wanted.add(stage)
        queue += needs[stage] - wanted
    order = [stage for stage in TopologicalSorter(needs).static_order() if stage in wanted]
    return [(name, key) for name, _, key in (stage.partition("@") for stage in order)]


def repeated_words(folder: Path, run: str) -> int:
    """The number of words that stand in their line before."""
    texts = read_table(folder / f"data/outputs/mine/{run}.parquet")["text"]
    lines = [re.findall(r"\w+", line) for text in texts for line in text.split("\n")]
    return sum(len(words) - len(set(words)) for words in lines)


def test_the_page_s_files_and_commands_do_what_it_says(folder: Path, cli: Cli) -> None:
    done = set[tuple[str, str]]()

    def repro(targets: list[str], again: bool) -> None:
        for stage, key in stages_of(folder, targets):
            if (stage, key) not in done or (again and stage == "score"):
                answer = cli(folder, stage, key)
                assert answer.status == 0, f"{stage} {key}\n{answer.err}"
                done.add((stage, key))

    for language, lines in blocks():
        if language == "sh":
            for line in "\n".join(lines).replace("\\\n", "").splitlines():
                command, *words = shlex.split(line, comments=True)
                if words[0] == "repro":
                    repro(words[1:], again=len(words) > 2)
                elif command == "espalier":
                    answer = cli(folder, *words)
                    assert answer.status == 0, answer.err
                    if words[:2] == ["new", "corpus"] and "--file" in words and "--reader" not in words:
                        assert answer.out == printed(line)
                    if words[:2] == ["new", "corpus"]:
                        add(folder / "params.yaml", {"corpora": {words[2]: {"split": TESTED}}})
                    if words[0] == "generate":
                        assert sum(line.startswith("  ") for line in answer.out.splitlines()) == 4
            continue
        file, body = folder / lines[0].removeprefix("# "), "\n".join(lines)
        if language == "python":
            file.parent.mkdir(exist_ok=True)
            file.write_text(body.partition("\n")[2] + "\n", encoding="utf-8")
        else:
            more = yaml.safe_load(body)
            for name in more.get("presets", {}).keys() & {"lstm"}:
                more["presets"][name]["training"] |= TINY["training"]
            add(file, more)

    # The same number of words as counted by hand, for two tasks.
    columns = {row["task"]: re.findall(r"`(\w+)`", row["columns"]) for row in PAGE.table("task", "columns")}
    for run, task in (("mypairs", "paraphrase"), ("mylstm", "verse")):
        outputs = read_table(folder / f"data/outputs/mine/{run}.parquet")
        assert {*columns[task]} <= {*outputs}
        texts = outputs["text"]
        mean = sum(len(text.split()) for text in texts) / len(texts)
        assert read_json(folder / f"metrics/mine/{run}.json")["words_a_text"] == pytest.approx(mean, rel=1e-4)
        details = read_json(folder / f"metrics/details/mine/{run}.json")
        assert details["intervals"]["words_a_text"] and details["signatures"]["words_a_text"].startswith("words|split")
    assert {path.stem for path in (folder / "metrics/mine").glob("*.json")} == {
        "mypairs", "mysongnet", "mydistinct", "mydistinct_beam", "mylstm", "mylstm_blind",
    }  # fmt: skip
    repeats = {run: repeated_words(folder, run) for run in ("mysongnet", "mydistinct", "mydistinct_beam")}
    assert repeats["mysongnet"] > 0 == repeats["mydistinct"] == repeats["mydistinct_beam"], repeats
    assert read_json(folder / "data/models/mylstm_blind/model.json")["config"]["symbols"] is False
    module = (folder / "mine/verse_lstm.py").read_text(encoding="utf-8")
    assert len(module.splitlines()) <= 70 and len([line for line in module.splitlines() if line.strip()]) < 60

    forget()  # as in Python without the module
    with pytest.raises(ConfigError, match=r"its architecture verse_lstm is of the module mine\.verse_lstm; import"):
        espalier.load(folder / "data/models/mylstm")

    for row in PAGE.table("mistake", "line"):
        assert said_of(row["mistake"], folder, cli) == key_of(row["line"]), row["mistake"]


#: In which file what is replaced by what, and the stage that then fails.
MISTAKES = {
    "no `positions` in the settings": ("verse_lstm", "positions: int = 256", "places: int = 256", "train mylstm"),
    "no `forward`": ("verse_lstm", "def forward", "def forwards", "train mylstm"),
    "`step` takes other arguments": ("verse_lstm", "step(self, tokens, state)", "step(self, state)", "train mylstm"),
    "no `self.vocabulary`": ("verse_lstm", "self.vocabulary = config, vocabulary", "words = config, 0", "train mylstm"),
    "`forward` returns a tensor": ("verse_lstm", ", batch.real.sum())", ", 1).total", "train mylstm"),
    "`step` returns scores": ("verse_lstm", "F.log_softmax(self.readout(hidden[:, 0]), dim=-1)",
                              "self.readout(hidden[:, 0])", "train mylstm"),
    "the name of a built-in entry": ("verse_lstm", '["verse_lstm"]', '["songnet"]', "train mylstm"),
    "a module that fails": ("verse_lstm", "VerseLSTM)\n", "LSTM)\n", "train mylstm"),
    "no `metrics`": ("words", "metrics = (", "numbers = (", "score mylstm"),
    "a mask that allows nothing": ("distinct", "fresh, allowed)", "fresh, allowed) - torch.inf", "decode mydistinct"),
    "a mask of one row": ("distinct", "fresh, allowed)", "fresh, allowed)[:1]", "decode mydistinct"),
    "a metric that reads a missing column": ("words", '["text"]]', '["texts"]]', "score mylstm"),
    "a metric with too few rows": ("words", '["text"]]', '["text"][:1]]', "score mylstm"),
}  # fmt: skip


def said_of(mistake: str, folder: Path, cli: Cli) -> str:
    """The line of a stage after this mistake, which is then undone."""
    if "versions.yaml" in mistake:
        from pipeline.params.read import load_params
        from pipeline.params.versions import check_versions

        with pytest.raises(ConfigError) as caught:
            check_versions(
                load_params(folder / "params.yaml"),
                yaml.safe_load((ROOT / "pipeline/params/versions.yaml").read_text()),
            )
        return str(caught.value)
    module, before, after, stage = MISTAKES[mistake]
    file = folder / f"mine/{module}.py"
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1, mistake
    file.write_text(text.replace(before, after), encoding="utf-8")
    shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)  # a file of one second and size would pass for it
    forget()
    try:
        answer = cli(folder, *stage.split())
    finally:
        file.write_text(text, encoding="utf-8")
        shutil.rmtree(file.parent / "__pycache__", ignore_errors=True)
        forget()
    assert answer.status == 1 and answer.err.count("\n") == 1, answer.err
    return str(answer.err).removeprefix("espalier: ").strip()


def test_the_table_counts_the_lines_that_each_part_writes() -> None:
    sections = re.split(r"^## (.+)\n", PAGE.text, flags=re.M)
    bodies = dict(zip(sections[1::2], sections[2::2], strict=True))
    for row in PAGE.table("part", "you write"):
        anchor = re.search(r"#([\w-]+)", row["part"])
        assert anchor is not None
        [body] = [body for title, body in bodies.items() if title.lower().replace(" ", "-") == anchor[1]]
        written = re.findall(r"```(?:yaml|python)\n# .*?\n(.*?)```", body, re.S)
        written += re.findall(r"^espalier new (?:.*\\\n)*.*$", body, re.M)
        assert row["lines"] == str(sum(len(each.splitlines()) for each in written)), row["part"]


def test_every_reader_is_named_and_the_options_of_those_of_own_files_are_its_own() -> None:
    rows = {key_of(row["reader"]): row for row in PAGE.table("reader", "records")}
    named = re.findall(r"`(\w+)`", re.search(r"The readers of published.*?\n\n", PAGE.text, re.S)[0])  # type: ignore[index]
    assert sorted([*rows, *named]) == sorted(READERS)
    table = {*get_type_hints(Framing)}
    for name, row in rows.items():
        function = imported("reader", READERS[name].function, where=name)
        options = {*options_of(function, given=("folders", "language"))[0]}
        told = {*re.findall(r"`(\w+)`", row["options"])} | (table if "those of a table" in row["options"] else set())
        assert told == options and row["records"] == READERS[name].records, name
    [said] = re.findall(r"The options\nof a table are (.*?)\. A split", PAGE.text, re.S)
    assert {*re.findall(r"`(\w+)`", said)} == table and all(name in said for name in ENCODINGS)


def test_bad_input_gives_the_lines_of_the_page(tmp_path: Path, cli: Cli) -> None:
    for file in (layout.PARAMS, layout.VERSIONS, layout.CATALOGUE):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    (tmp_path / "mydata").mkdir()
    files = {
        "two.tsv": b"a dog ran\ta dog was running\n" * 2, "gb.csv": "source,target\n灯亮,灯明\n".encode("gb18030"),
        "open.csv": b'source,target\na dog,the dog\n"a dog,the dog\n', "empty.lrc": b"[ti:la]\n",
        "marks.txt": "。，\n！\n".encode(), "packed.zip": b"PK\x03\x04\0\0",
    }  # fmt: skip
    for name, data in files.items():
        (tmp_path / "mydata" / name).write_bytes(data)
    more = {"two.tsv": ("--reader", "pairs", "-S", "options.columns=[source, target, group]"),
            "gb.csv": ("-S", "options.encoding=utf-8")}  # fmt: skip
    lines = [key_of(row["line"]).replace("\\\\", "\\") for row in PAGE.table("bad input", "line")]
    for name, line in zip(files, lines, strict=True):
        answer = cli(tmp_path, "new", "corpus", f"mydata/{name}", *more.get(name, ()))
        assert (answer.status, answer.err) == (1, f"espalier: {line}\n")


def test_the_table_of_keys_has_every_key_of_every_kind_of_entry() -> None:
    kinds = {
        "sources": LocalFile, "parsers": ParserEntry, "corpora": Corpus, "datasets": Dataset, "models": Model,
        "runs": Run, "baselines": Baseline, "annotations": Annotation,
    }  # fmt: skip
    rows = [(re.findall(r"`(\w+)`", row["key"]), re.findall(r"\w+", row["in"])) for row in PAGE.table("key", "in")]
    for kind, entry in kinds.items():
        told = {key for keys, inside in rows if kind in inside for key in keys}
        assert entry.model_fields.keys() <= told, kind


def test_the_page_is_in_step_with_the_project() -> None:
    assert not PAGE.dead_links()
    assert [file for file in PAGE.files() if not (ROOT / file).exists()] == []
