"""`espalier new corpus FILE`: what is found in a file is shown, and the entries of a model of it are added, or none."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pipeline import layout
from pipeline.commands import new_from
from pipeline.commands.new import add
from pipeline.params.insert import insert
from pipeline.params.read import load_params, read_yaml
from pipeline.records.systems import expander_of

ROOT = layout.ROOT
Cli = Callable[..., Any]
Refused = Callable[..., str]
Added = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The committed params.yaml of the nursery, with what it names, and a folder for files."""
    (tmp_path / layout.VERSIONS).parent.mkdir(parents=True)
    for name in (layout.PARAMS, layout.VERSIONS, layout.CATALOGUE):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "mydata").mkdir()
    return tmp_path


def questions(folder: Path) -> Path:
    """400 pairs of which 100 are no paraphrases, one has a field too few and one is repeated."""
    file = folder / "mydata/Questions (1).csv"
    with file.open("w", encoding="utf-8", newline="") as opened:
        rows = [[f"Who lit lamp {n}?", f"By whom was lamp {n} lit?", str(int(n % 4 > 0))] for n in range(400)]
        csv.writer(opened).writerows([["question1", "question2", "is_duplicate"], *rows, ["alone", "b"], rows[1]])
    return file


def sections(folder: Path, name: str) -> Added:
    """The entries of a name, by their sections."""
    tree = read_yaml(folder / "params.yaml")
    places = {**tree, **tree["datasets"], "local": tree["sources"]["local"]}
    return {key: each[name] for key, each in places.items() if isinstance(each, dict) and name in each}


def test_pairs_get_a_model_and_its_expander_and_rows_that_do_not_train_are_shown(folder: Path, cli: Cli) -> None:
    questions(folder)
    answer = cli(folder, "new", "corpus", "mydata/Questions (1).csv")
    lines = answer.out.splitlines()
    assert (answer.status, answer.err) == (0, "")
    assert lines[0].endswith(
        "reader pairs, en, options {columns: {source: question1, target: question2, label: is_duplicate}, labels: [1]}"
    )
    assert lines[1:3] == [
        "rows: 402; records: 300", "  Questions (1), row 3: Who lit lamp 1? → By whom was lamp 1 lit?",
    ]  # fmt: skip
    assert lines[7:15] == [
        "would be quarantined: 102",
        "  100 another label",
        "    Questions (1), row 2: Who lit lamp 0? → By whom was lamp 0 lit?",
        "    Questions (1), row 6: Who lit lamp 4? → By whom was lamp 4 lit?",
        "  1 wrong number of fields",
        "    Questions (1), row 402: alone,b",
        "  1 duplicate",
        "    Questions (1), row 403: Who lit lamp 1? → By whom was lamp 1 lit?",
    ]
    assert lines[-3:] == [
        "  espalier repro train@questions_1 train@questions_1_se",
        "  espalier paraphrase --model questions_1 'Who lit lamp 1?'",
        "  espalier repro score@questions_1",
    ]
    found = sections(folder, "questions_1")
    assert {*found} == {"local", "corpora", "linearize", "models", "runs", "annotations"}
    assert found["corpora"]["parser"] == "constituency_en"
    assert found["corpora"]["split"] == {"kind": "group", "seed": 1, "dev": 30, "test": 60}
    assert found["local"]["file"] == "mydata/Questions (1).csv"
    params = load_params(folder / "params.yaml")
    assert expander_of(params, "questions_1") == "questions_1_se" and expander_of(params, "guig_tg") == "guig_se"
    assert params.models["questions_1_se"].dataset == "questions_1"


def test_a_look_alone_changes_nothing_and_a_corpus_alone_has_no_model(folder: Path, cli: Cli) -> None:
    before = (folder / "params.yaml").read_bytes()
    questions(folder)
    look = cli(folder, "new", "corpus", "own", "--file", "mydata/Questions (1).csv", "--dry-run")
    assert look.status == 0 and (folder / "params.yaml").read_bytes() == before and "params.yaml" not in look.out
    answer = cli(folder, "new", "corpus", "own", "--file", "mydata/Questions (1).csv", "--alone", "--dev", "5")
    assert answer.out.startswith(look.out) and answer.out.endswith("  espalier repro filter@own\n")
    found = sections(folder, "own")
    assert {*found} == {"local", "corpora"} and found["corpora"]["split"]["dev"] == 5


def test_given_options_come_before_guessed_ones(folder: Path, cli: Cli) -> None:
    questions(folder)
    changes = ("-S", "options={columns: {text: question2}}", "-S", "filters.max_words=9")
    answer = cli(folder, "new", "corpus", "mydata/Questions (1).csv", "--reader", "text_table", "--alone", *changes)
    assert (answer.status, answer.err) == (0, "")
    found = sections(folder, "questions_1")["corpora"]
    assert (found["reader"], found["options"]) == ("text_table", {"columns": {"text": "question2"}})
    assert found["filters"] == {"deduplicate": True, "max_words": 9}
    assert "rows: 402; records: 400" in answer.out and "1 wrong number of fields" in answer.out


@pytest.mark.parametrize(
    ("name", "data", "model", "use"),
    [
        ("talk.json", json.dumps([["灯亮了吗？", "灯亮了。"]]), "x2tree", "reply --model talk '灯亮了吗？'"),
        ("verse.txt", "the rain falls,\non stone.\n\na bird sings.\nso low\n", "songnet",
         "generate --language en --model verse 3,/2."),
        ("songs.lrc", "[00:01.00]灯下人\n[00:02.00]桥边雨\n", "sat_p2", "compose --model songs '灯下人，桥边雨'"),
        ("news.jsonl", '{"text": "The dog ran."}\n', "sat_news_pos", "compose --model news 'The dog ran.'"),
    ],
)  # fmt: skip
def test_records_of_each_type_get_the_model_that_serves_them(
    folder: Path, cli: Cli, name: str, data: str, model: str, use: str
) -> None:
    (folder / "mydata" / name).write_text(data, encoding="utf-8")
    answer = cli(folder, "new", "corpus", f"mydata/{name}")
    assert answer.status == 0, answer.err
    assert f"  espalier {use}\n" in answer.out and "records are few" in answer.out
    params, key = load_params(folder / "params.yaml"), name.partition(".")[0]
    assert params.models[key].network == params.models[model].network and params.runs[key].model == key
    assert f"{key}_se" not in params.models
    if name == "news.jsonl":  # whose nursery's tagger takes what stands between spaces for words
        assert params.corpora[key].parser == "news_tags" and params.parsers["news_tags"].options == {"words": "penn"}


def test_gold_trees_get_a_parser_that_is_trained_on_them(folder: Path, cli: Cli) -> None:
    (folder / "mydata/own.mrg").write_text("(S (NP (DT The) (NN lamp)) (VP (VBZ glows)))\n", encoding="utf-8")
    answer = cli(folder, "new", "corpus", "mydata/own.mrg")
    assert answer.status == 0 and "  espalier repro train_parser@own\n" in answer.out
    found = sections(folder, "own")
    assert {*found} == {"local", "corpora", "parsers"} and found["corpora"]["parser"] == "none"
    assert (found["parsers"]["backend"], found["parsers"]["treebank"]) == ("benepar", "own")


def test_a_folder_of_splits_keeps_them(folder: Path, cli: Cli) -> None:
    (folder / "mydata/talks").mkdir()
    for name, word in (("train", "灯"), ("dev", "桥"), ("test", "雨")):
        (folder / f"mydata/talks/{name}.jsonl").write_text(f'["{word}好吗？", "{word}好。"]\n', encoding="utf-8")
    assert cli(folder, "new", "corpus", "mydata/talks", "--alone").status == 0
    assert sections(folder, "talks")["corpora"]["split"] == {"kind": "published", "dev": ["dev"], "test": ["test"]}
    for stage in ("copy", "parse", "filter"):
        assert cli(folder, stage, "talks").status == 0
    counts = json.loads((folder / "metrics/corpora/talks.json").read_text(encoding="utf-8"))
    assert counts == {"read": 3, "train": 1, "dev": 1, "test": 1, "quarantined": 0}


def test_records_that_no_model_of_the_profile_reads_are_a_corpus_and_a_note(folder: Path, cli: Cli) -> None:
    (folder / "mydata/talk.json").write_text(json.dumps([["Is it lit?", "It is lit."]]), encoding="utf-8")
    answer = cli(folder, "new", "corpus", "mydata/talk.json")
    assert answer.status == 0 and "note: profile nursery has no model in en that could be copied" in answer.err
    assert {*sections(folder, "talk")} == {"local", "corpora"}


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("mydata/nosuch.csv", "mydata/nosuch.csv: no such file or folder"),
        ("two --file mydata/two.tsv -S options.columns=[source,target,group]",
         "mydata/two.tsv: no records: 3 wrong number of fields; the first is two/two/1: 'a dog ran\\ta dog was run"),
        ("mydata/two.tsv -S options.moon=1", "corpora.two.options: unknown option 'moon'; allowed: columns, encoding"),
        ("mydata/two.tsv -S filters.moon=1", "corpora.two.filters: unknown key 'moon'; allowed: ascii_only"),
        ("mydata/two.tsv -S options=1", "corpora.two.options: no mapping; as in -S options.rhyme=AA"),
        ("mydata/two.tsv -S reader=[moon]", "--reader: unknown reader '['moon']'; allowed: "),
        ("mydata/two.tsv --reader moon", "--reader: unknown reader 'moon'; allowed: "),
        ("mydata/two.tsv --parser moon", "corpora.two.parser: unknown reference 'moon'; allowed: "),
        ("guig_se --file mydata/two.tsv", "models: there is an entry guig_se; choose another name"),
        ("mydata/open.csv", "mydata/open.csv, row 3: not valid CSV (unexpected end of data); double a quotation"),
        ("own --reader poems --language en --dry-run", "--alone or --dry-run: no file to look at; give a FILE"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_leaves_the_file_as_it_is(folder: Path, cli: Cli, command: str, line: str) -> None:
    (folder / "mydata/two.tsv").write_text("a dog ran\ta dog was running\n" * 3, encoding="utf-8")
    (folder / "mydata/open.csv").write_text('source,target\na dog,the dog\n"a dog,the dog\n', encoding="utf-8")
    before = (folder / "params.yaml").read_bytes()
    answer = cli(folder, "new", "corpus", *command.split())
    assert answer.status == 1 and answer.err.count("\n") == 1 and line in answer.err
    assert (folder / "params.yaml").read_bytes() == before


def test_an_interruption_leaves_no_half_of_the_entries(folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mydata/two.tsv").write_text("a dog ran\ta dog was running\n" * 3, encoding="utf-8")
    before, added = (folder / "params.yaml").read_bytes(), list[str]()

    def interrupted(kind: str, *rest: Any) -> list[str]:
        added.append(kind)
        if kind == "model":
            raise KeyboardInterrupt
        return add(kind, *rest)

    monkeypatch.setattr(new_from, "add", interrupted)
    assert cli(folder, "new", "corpus", "mydata/two.tsv").status != 0
    assert added == ["corpus", "dataset", "model"] and (folder / "params.yaml").read_bytes() == before


def test_entries_that_are_added_at_once_are_all_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    like = read_yaml(folder / "params.yaml")["corpora"]["verse_zh"]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: insert({f"corpora.q{number}": like}), range(4)))
    assert {f"q{number}" for number in range(4)} <= read_yaml(folder / "params.yaml")["corpora"].keys()


def test_a_released_model_s_name_is_refused_as_it_would_be_taken_for_that_model(
    folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "mydata/two.tsv").write_text("a dog ran\ta dog was running\n" * 3, encoding="utf-8")
    monkeypatch.setattr("pipeline.commands.new.released_names", lambda: ["songci"])
    before = (folder / "params.yaml").read_bytes()
    answer = cli(folder, "new", "corpus", "songci", "--file", "mydata/two.tsv")
    assert answer.err == "espalier: models: a released model is called songci; choose another name\n"
    assert (folder / "params.yaml").read_bytes() == before


def test_a_name_may_have_hyphens(folder: Path, cli: Cli) -> None:
    (folder / "mydata/two.tsv").write_text("a dog ran\ta dog was running\n" * 3, encoding="utf-8")
    assert cli(folder, "new", "corpus", "my-pairs", "--file", "mydata/two.tsv").status == 0
    added = sections(folder, "my-pairs")
    assert added["local"]["shelf"] == added["corpora"]["shelf"] == "my_pairs"
    assert cli(folder, "copy", "my-pairs").status == 0


def test_a_name_that_is_also_a_folder_s_is_a_name_where_a_reader_is_given(folder: Path, cli: Cli) -> None:
    assert cli(folder, "new", "corpus", "mydata", "--reader", "verse_en", "--language", "en").status == 0
    assert sections(folder, "mydata")["corpora"]["reader"] == "verse_en"


def test_a_corpus_of_which_no_row_is_kept_says_why(folder: Path, cli: Cli, refused: Refused) -> None:
    (folder / "mydata/two.tsv").write_text("a dog ran\ta dog was running\n" * 3, encoding="utf-8")
    columns = ("-S", "options.columns=[source, target, group]")
    for name, parser in (("parsed", ("--parser", "constituency_en")), ("plain", ("--language", "en"))):
        command = ("new", "corpus", name, "--reader", "tsv", "--file", "mydata/two.tsv", *columns, *parser)
        assert cli(folder, *command).status == 0 and cli(folder, "copy", name).status == 0
    why = "3 wrong number of fields; the first is {}/two/1: 'a dog ran\\ta dog was running'"
    assert f"no records to parse: {why.format('parsed')}; check its sources" in refused(folder, "parse", "parsed")
    assert (folder / "data/parsed/parsed/quarantine.parquet").is_file()
    assert cli(folder, "parse", "plain").status == 0
    assert f"all 3 rows were quarantined ({why.format('plain')})" in refused(folder, "filter", "plain")
