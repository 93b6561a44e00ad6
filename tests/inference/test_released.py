"""The models in released/: small, described, and exact in the format that is asked for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import espalier
from espalier.cli.app import app
from espalier.cli.command import Command
from espalier.cli.commands import COMMANDS
from espalier.cli.forms import as_format
from espalier.cli.models import Models
from espalier.frames import Acrostic, Form
from espalier.inference import released
from espalier.inference.folder import CHECKSUMS, SYSTEM, read_system, verify_checksums
from espalier.inference.registry import SERVICES, services_of
from espalier.inference.requests import PairRequest, TemplateRequest, VerseRequest
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.files import read_json
from espalier.verse.ci_books import open_books
from espalier.verse.variants import fit_of
from pipeline.shell.models import ProfileModels

ROOT = Path(__file__).resolve().parents[2]
MODELS = sorted(path for path in (ROOT / "released").iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_a_released_model_is_small_described_and_whole(folder: Path) -> None:
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < 20e6
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert f"\n# {folder.name}\n" in card and "Licence: " in card and "`espalier release " in card
    assert verify_checksums(folder) is None  # or raises
    listed = read_json(folder / CHECKSUMS)["files"]
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert files - listed.keys() == {"README.md", CHECKSUMS}
    assert {"config.json", "model.safetensors", "scores.json"} < files


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_the_card_has_the_scores_of_the_released_file_beside_trivial_rows(folder: Path) -> None:
    card = (folder / "README.md").read_text(encoding="utf-8")
    for run, facts in read_json(folder / "scores.json").items():
        table = card.partition(f"**`{run}`**")[2].partition("\n\n")[2].partition("\n\n")[0]
        columns = facts["columns"]
        assert table.startswith(f"| metric | released | 95 % interval | {' | '.join([*columns][1:])} |")
        assert len(columns) > 1
        for metric, value in columns["released"]["scores"].items():
            [cell] = re.findall(rf"^\| `{metric}` \| ([-\d.]+) \|", table, re.M)
            assert float(cell) == pytest.approx(value, abs=0.006)


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
@pytest.mark.filterwarnings("ignore::espalier.inference.writer.InferenceWarning")
def test_the_calls_that_a_card_shows_answer_one_for_each_service(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    card, names = (folder / "README.md").read_text(encoding="utf-8"), dict[str, Any]()
    first, load, *calls = re.findall(r"^>>> (.+)$", card, re.M)
    exec(f"{first}\n{load}", names)
    assert all(eval(call, names) for call in calls)
    model = names["model"]
    assert model.name == folder.name and len(calls) == len(services_of(model.encoding, model.model.config))


def test_all_released_models_together_are_small() -> None:
    assert sum(file.stat().st_size for file in (ROOT / "released").rglob("*") if file.is_file()) < 60e6


def test_songci_writes_what_is_asked_for() -> None:
    model = espalier.load(ROOT / "released/songci", device="cpu")
    poems = model.generate([VerseRequest("5,5。7,5。", rhyme="AA", acrostic="江月")], n=2)
    assert len(poems) == 2
    for poem in poems:
        lines = poem.text.split("\n")
        assert [re.sub("[^，。]", "5", line) for line in lines] == ["55555，55555。", "5555555，55555。"]
        assert [line[0] for line in lines] == ["江", "月"]
        first, second = poem.rhyme_groups
        assert first == second != "?"


@pytest.mark.parametrize(("tune", "lengths"), [("卜算子", [5, 5, 7, 5] * 2), ("醉妆词", [3, 3, 5] * 2)])
def test_songci_keeps_a_tune_by_its_own_book_without_any_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tune: str, lengths: list[int]
) -> None:
    """A copy of the folder alone, in another place; the catalogue does not have 醉妆词, which repeats words."""
    folder = shutil.copytree(ROOT / "released/songci", tmp_path / "model")
    monkeypatch.setattr(released, "RELEASED", tmp_path / "none")
    model = espalier.load(folder, device="cpu")
    (poem,) = model.generate([VerseRequest(tune=tune)], book="cilin", tone=True)
    assert [len(clause) for clause in re.split(r"\W+", poem.text) if clause] == lengths
    books = open_books(folder / "books.zip")
    variant = books.tunes.variant(tune)
    assert fit_of(re.sub(r"\s", "", poem.text), variant, books.rhyme_books).faults == 0


def test_songci_writes_shi_that_keep_their_form() -> None:
    """Of which it was pre-trained on 117,611: here a 绝句 whose first clause does not rhyme."""
    model = espalier.load(ROOT / "released/songci", device="cpu")
    tones = "仄仄平平平仄仄平平仄仄仄平平平平仄仄平平仄仄仄平平仄仄平"
    poems = model.generate([VerseRequest("7,7。7,7。", rhyme="AA", tones=tones)], book="pingshui", tone=True, n=3)
    books = open_books(ROOT / "released/songci/books.zip")
    assert all(Form("七言绝句").check(poem.text.replace("\n", ""), books).kept for poem in poems)


@pytest.mark.parametrize("opening", range(1, 5))
def test_songci_writes_each_opening_of_a_form_by_its_name(opening: int) -> None:
    said = as_format({"form": "五绝", "opening": opening, "acrostic": "江月"})
    request = VerseRequest(said["format"], rhyme=said["rhyme"], tones=said["tones"], acrostic="江月")
    (poem,) = espalier.load(ROOT / "released/songci", device="cpu").generate([request], book=said["book"], tone=True)
    books = open_books(ROOT / "released/songci/books.zip")
    assert (Form("五绝", opening, marks=True) & Acrostic("江月")).check(poem.text, books).kept


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"form": "haiku"}, r"--form: haiku is a form that models of ours do not write; Form\('haiku'\)\.processor"),
        ({"form": "sestina"}, "--form: unknown form 'sestina'; allowed: 七言律诗"),
        ({"form": "五绝", "rhyme": "AA"}, "--form: a form beside --rhyme"),
        ({"form": "五绝", "book": "cilin"}, "--form: a form beside --book"),
        ({"form": "五绝", "opening": 5}, "--opening: no opening 5 of 五绝"),
        ({"form": None, "opening": 1}, "--opening: there is no form"),
    ],
)
def test_a_form_that_is_not_written_is_one_line(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        as_format(values)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Haiku", "haiku is a form that models of ours do not write"),
        ("七絕", "`espalier generate --form 七言绝句` writes it"),
    ],
)
def test_the_name_of_a_form_in_place_of_a_format_says_what_writes_it(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        espalier.load(ROOT / "released/songci", device="cpu").generate([name])


def test_the_books_of_songci_are_whole_and_say_their_licence() -> None:
    file = ROOT / "released/songci/books.zip"
    tunes = open_books(file).tunes
    assert (len(tunes), sum(len(tunes.variants(names[0])) for names in tunes.names)) == (817, 2294)
    with zipfile.ZipFile(file) as archive:
        assert archive.read("LICENSE").startswith(b"MIT License\n\nCopyright (c) 2026 hulbji\n")


def test_a_damaged_archive_of_books_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "books.zip"
    file.write_bytes(b"PK")
    with pytest.raises(ArtifactError, match=r"books\.zip: no archive of books; run dvc"):
        open_books(file)


def test_a_released_model_is_loaded_by_its_name() -> None:
    assert espalier.load("songci", device="cpu").name == "songci"
    assert released.folder_of("songci") == ROOT / "released/songci"


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_a_released_model_offers_the_services_that_it_is_the_default_for(folder: Path) -> None:
    system, defaults = espalier.load(folder, device="cpu"), read_system(folder).default_for
    assert defaults
    for default in defaults:
        service, _, language = default.partition(".")
        trees = (folder / "templates.json").is_file()
        assert released.released_for(service, language, trees=trees) == folder
        assert SERVICES[service].fits(system.encoding, system.model.config)
        assert system.vocabulary.language == language
    assert released.released_for("generate", "xx") is None


def test_a_folder_of_the_working_directory_comes_before_a_released_model(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(models / "verse", tmp_path / "songci")
    monkeypatch.chdir(tmp_path)
    assert released.folder_of("songci") == Path("songci")


@pytest.fixture
def hub(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own layout of its cache, with poet/verse; it is told not to ask the network."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    commit, repository = "0" * 40, tmp_path / "models--poet--verse"
    shutil.copytree(models / "verse", repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(commit, encoding="utf-8")


@pytest.mark.usefixtures("hub")
def test_a_model_of_the_hub_is_loaded_from_its_cache() -> None:
    model = espalier.load("poet/verse", device="cpu")
    assert model.generate(["2。"]) and model.name == "poet/verse"
    with pytest.raises(ArtifactError, match="poet/prose: neither a folder, nor downloaded from the Hugging Face Hub"):
        espalier.load("poet/prose")


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("found", [Models(), ProfileModels()], ids=["installed", "clone"])
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_finds_a_model_of_the_hub_by_name_or_says_in_a_line_that_it_cannot(
    command: type[Command], found: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)  # a folder of a profile
    monkeypatch.setattr("espalier.cli.models._found", found)
    values = {each.name: each.default for each in command.parameters()} | {"model": "poet/verse", "quiet": True}
    if command.service in ("generate", "polish"):
        assert command(values).open([]).system.name == "poet/verse"
    else:
        with pytest.raises(ConfigError, match="poet/verse"):  # which is a model of verse
            command(values).open([TemplateRequest("a") if command.service == "compose" else PairRequest("a")])
    with pytest.raises(ArtifactError, match=r"^poet/prose: neither a folder, nor downloaded from the Hugging Face"):
        found.open(command.service, "zh", model="poet/prose")


def test_a_name_without_a_model_is_one_line_with_the_released_names() -> None:
    with pytest.raises(ArtifactError, match=r"moonci: no such model; .* or a released model: .*songci"):
        espalier.load("moonci")


def test_a_damaged_release_among_those_that_a_command_looks_at_is_one_line_with_its_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(ROOT / "released/nursery_compose", tmp_path / "compose")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Release"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setattr(released, "RELEASED", tmp_path)
    assert released.released_for("compose", "zh") == folder
    (folder / SYSTEM).write_text("{", encoding="utf-8")
    with pytest.raises(ArtifactError, match=rf"system\.json: not valid JSON .*; git restore {folder}$"):
        released.released_for("reply", "zh")


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.json", "system.json"])
def test_a_damaged_copy_without_checksums_is_to_be_downloaded_and_not_trained(tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(ROOT / "released/nursery_compose", tmp_path / "copy")
    (folder / CHECKSUMS).unlink()
    (folder / name).write_bytes((folder / name).read_bytes()[:100])
    with pytest.raises(ArtifactError, match=r"; download or export the model again$"):
        espalier.load(folder)


def test_expand_needs_no_model_of_a_profile_and_its_released_expander_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(ROOT / "released/nursery_paraphrase", tmp_path / "paraphrase")
    monkeypatch.setattr(released, "RELEASED", tmp_path)
    expander = released.released_expander("en")
    assert expander is not None and expander.is_relative_to(folder) and released.released_expander("zh") is None
    assert espalier.load(expander, device="cpu").view.writes == "tree"
    (expander / SYSTEM).write_text("{}", encoding="utf-8")
    with pytest.raises(ArtifactError, match="not the file that was exported"):
        released.released_expander("en")


def test_a_printed_book_without_tones_refuses_a_rhyme_of_level_and_oblique_words() -> None:
    """A beam gave an empty poem, and a sample an error of the constraint."""
    songci = espalier.load("songci", device="cpu")
    for beam in (0, 2):
        with pytest.raises(ConfigError, match="rhyme letter A has level and oblique places, which never rhyme by"):
            songci.generate([VerseRequest(tune="天净沙")], book="pingshui", beam=beam)


def test_a_poem_with_an_acrostic_keeps_the_repetitions_of_its_tune_when_it_is_checked() -> None:
    [poem] = espalier.load("songci", device="cpu").generate([VerseRequest(tune="忆秦娥", acrostic="山")], book="cilin")
    row = json.dumps({"text": poem.text, "rules": poem.rules}, ensure_ascii=False)
    printed = CliRunner().invoke(app, ["check", "--file", "-", "--json"], input=row)
    assert printed.exit_code == 0 and json.loads(printed.output)["kept"], printed.output


def test_a_line_that_is_no_request_does_not_stop_the_others() -> None:
    lines = "5，5。\n5。\t\t\tx\n7。\n5,,5。\n3。\n"
    answer = CliRunner().invoke(app, ["generate", "--model", "songci", "--file", "-", "--json"], input=lines)
    assert answer.exit_code == 1
    assert [json.loads(line)["line"] for line in answer.stdout.splitlines()] == [1, 3, 5]
    assert "row 2: 'x' is no number of a variant" in answer.stderr and "row 4, format: " in answer.stderr
    alone = CliRunner().invoke(app, ["generate", "--model", "songci", "--file", "-"], input="5。\t\t\tx\n")
    assert (alone.exit_code, alone.stdout) == (1, "")
