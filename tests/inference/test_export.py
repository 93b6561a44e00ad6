"""Exported folders: whole, moved, refused in one line; and read where only the library is installed."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distributions, packages_distributions, requires
from pathlib import Path

import pytest
import torch
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import espalier
from espalier.inference.export import CARD, export_system
from espalier.inference.folder import save_system
from espalier.io.errors import ArtifactError
from espalier.models.serialization import load_model, weights_of
from espalier.syntax.parsers.registry import BACKENDS, Backend, save_parser

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
TEXT = "the cook peels an onion ."


@pytest.fixture
def guided(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of models and one of parsers beside it; `writer` names both its parser and its expander."""
    monkeypatch.setitem(BACKENDS, "words", Backend("tiny_models:load_words", needs_model=False))
    here = tmp_path / "here"
    shutil.copytree(models, here / "models")
    (here / "parsers/spaces").mkdir(parents=True)
    save_parser(here / "parsers/spaces", "words", None, {})
    for name in ("writer", "expander"):
        settings = json.loads((here / f"models/{name}/system.json").read_text(encoding="utf-8"))["settings"]
        expander = here / "models/expander" if name == "writer" else None
        save_system(here / "models" / name, settings, parser=here / "parsers/spaces", expander=expander)
    return here / "models"


def required(requirements: list[str]) -> set[str]:
    """The distributions that these requirements install, theirs too."""
    found, queue = set[str](), [Requirement(line) for line in requirements]
    while queue:
        wanted = queue.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        if (name := canonicalize_name(wanted.name)) not in found and name in INSTALLED:
            found.add(name)
            queue += map(Requirement, requires(name) or ())
    return found


INSTALLED = {canonicalize_name(each.metadata["Name"]) for each in distributions()}
PACKAGES = {top: {canonicalize_name(name) for name in names} for top, names in packages_distributions().items()}


def beyond(requirements: list[str]) -> list[str]:
    """The installed packages that these requirements do not install."""
    kept = {"espalier"} | required(requirements)
    return sorted(top for top, names in PACKAGES.items() if not names & kept)


def apart(script: str, requirements: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in another folder, with src/ and what these requirements install; nothing else can be imported."""
    start = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {beyond(requirements)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
sys.path.insert(0, {str(ROOT / "src")!r})
"""
    command = [sys.executable, "-I", "-c", start + script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_an_export_writes_what_the_model_writes_after_all_else_is_gone(guided: Path, tmp_path: Path) -> None:
    expected = espalier.load(guided / "writer", device="cpu").paraphrase([TEXT], templates=2)
    export_system(guided / "writer", tmp_path / "out", "# Card\n")
    shutil.rmtree(guided.parent)
    shutil.move(tmp_path / "out", tmp_path / "moved")
    system = espalier.load(tmp_path / "moved", device="cpu")
    assert system.paraphrase([TEXT], templates=2) == expected
    assert (system.parser_name, system.expander.name) == ("spaces", "expander")
    assert (tmp_path / "moved" / CARD).read_text(encoding="utf-8") == "# Card\n"


def test_weights_in_bfloat16_take_half_the_space_and_are_those_of_the_model_rounded(
    guided: Path, tmp_path: Path
) -> None:
    export_system(guided / "writer", tmp_path / "out", bfloat16=True)
    sizes = [weights_of(folder).stat().st_size for folder in (guided / "writer", tmp_path / "out")]
    assert sizes[1] < 0.6 * sizes[0]
    whole, rounded = (load_model(folder)[0].state_dict() for folder in (guided / "writer", tmp_path / "out"))
    assert all(torch.equal(rounded[name], tensor.bfloat16().to(tensor.dtype)) for name, tensor in whole.items())
    assert rounded.keys() == whole.keys() and {tensor.dtype for tensor in rounded.values()} == {torch.float32}


def test_the_parser_that_two_models_share_is_copied_once(guided: Path, tmp_path: Path) -> None:
    export_system(guided / "writer", tmp_path / "out")
    assert [path.parent.name for path in (tmp_path / "out").rglob("parser.json")] == ["spaces"]
    assert not (tmp_path / "out" / CARD).exists()
    [found] = espalier.load(tmp_path / "out/models/expander", device="cpu").expand([TEXT], templates=1)
    assert found.tree.startswith("(S")


def test_a_parser_s_model_from_a_path_comes_along(
    guided: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BACKENDS, "words", Backend("tiny_models:load_words"))
    (tmp_path / "own.model").write_text("spaces", encoding="utf-8")
    file = guided.parent / "parsers/spaces/parser.json"
    value = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**value, "model": str(tmp_path / "own.model")}), encoding="utf-8")
    export_system(guided / "writer", tmp_path / "out")
    (tmp_path / "own.model").unlink()
    assert espalier.load(tmp_path / "out", device="cpu").paraphrase([TEXT], templates=1)


def test_a_parser_s_files_are_not_taken_for_a_model_s(
    guided: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model of LTP, or of benepar, is a folder with a config.json, as a model of the Hugging Face Hub is."""
    monkeypatch.setitem(BACKENDS, "words", Backend("tiny_models:load_words"))
    own = tmp_path / "own"
    own.mkdir()
    (own / "config.json").write_text("{}", encoding="utf-8")
    file = guided.parent / "parsers/spaces/parser.json"
    value = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**value, "model": str(own)}), encoding="utf-8")
    for hub in (False, True):
        export_system(guided / "writer", tmp_path / f"out{hub}", bfloat16=True, hub=hub)
        assert list((tmp_path / f"out{hub}/parsers").rglob("config.json"))
        assert espalier.load(tmp_path / f"out{hub}", device="cpu").paraphrase([TEXT], templates=1)


def test_all_seeds_are_exported(models: Path, tmp_path: Path) -> None:
    export_system(models / "verse", tmp_path / "out")
    for seed in (3, 11):
        own, other = (espalier.load(folder, seed=seed, device="cpu") for folder in (models / "verse", tmp_path / "out"))
        assert own.generate(["5。"], seed=4) == other.generate(["5。"], seed=4)


def test_a_damaged_model_is_not_exported(guided: Path, tmp_path: Path) -> None:
    weights = guided / "expander/seed1.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    with pytest.raises(ArtifactError, match=r"models/expander/seed1\.safetensors: not readable as weights"):
        export_system(guided / "writer", tmp_path / "out")
    assert not [*tmp_path.glob("*out*"), *tmp_path.glob(".*")]


def test_what_cannot_be_exported_is_named_in_one_line(guided: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine.txt").touch()
    (tmp_path / "file").touch()
    (tmp_path / "untrained").mkdir()
    for folder, out, said in (
        (guided / "writer", tmp_path / "full", "full: is not an empty folder; name a new one"),
        (guided / "writer", tmp_path / "file", "file: is not an empty folder; name a new one"),
        (tmp_path / "untrained", tmp_path / "out", "untrained: no weights; train the model"),
    ):
        with pytest.raises(ArtifactError) as caught:
            export_system(folder, out)
        assert str(caught.value).endswith(said)
    assert (tmp_path / "full/mine.txt").exists() and not (tmp_path / "out").exists()


def test_an_export_is_read_where_neither_dvc_nor_the_repository_is(models: Path, tmp_path: Path) -> None:
    export_system(models / "verse", tmp_path / "out")
    (tmp_path / "elsewhere").mkdir()
    script = (
        f"import espalier\nsystem = espalier.load({str(tmp_path / 'out')!r}, device='cpu')\n"
        "poem, = system.generate(['5。'], seed=4)\n"
        "measured, = system.likelihood([{'target': poem.text, 'rhyme': poem.rhyme, 'tune': '', 'author': ''}])\n"
        "print(poem.text, measured.tokens)\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = apart(script, PROJECT["dependencies"], tmp_path / "elsewhere")
    assert done.returncode == 0, done.stderr
    said, modules = done.stdout.splitlines()
    [poem] = espalier.load(models / "verse", device="cpu").generate(["5。"], seed=4)
    assert said == f"{poem.text} {len(poem.text) + 2}"
    assert not {"pipeline", "dvc", "typer", "rich", "spacy", "jinja2", "matplotlib"} & set(modules.split())


def test_a_parser_whose_library_is_not_installed_names_the_extra(models: Path, tmp_path: Path) -> None:
    copy = tmp_path / "models/tree"
    shutil.copytree(models / "tree", copy)
    (tmp_path / "parsers/jieba").mkdir(parents=True)
    save_parser(tmp_path / "parsers/jieba", "jieba", None, {})
    save_system(copy, {"max_words": 10}, parser=tmp_path / "parsers/jieba")
    export_system(copy, tmp_path / "out")
    script = f"""
import espalier
from espalier.io.errors import ConfigError
try:
    print(len(espalier.load({str(tmp_path / "out")!r}, device='cpu').reply(['今天天气真好'])))
except ConfigError as error:
    print(error)
"""
    bare = apart(script, PROJECT["dependencies"], tmp_path)
    assert re.fullmatch(r"the package (opencc|jieba) is not installed; install espalier\[parse\]\n", bare.stdout), bare
    whole = apart(script, [*PROJECT["dependencies"], *EXTRAS["parse"]], tmp_path)
    assert whole.stdout == "1\n", whole.stderr


def test_the_console_script_names_the_extra_that_it_needs(tmp_path: Path) -> None:
    script = f"sys.path.insert(0, {str(ROOT)!r})\nfrom espalier.cli.main import main\nmain()"
    done = apart(script, PROJECT["dependencies"], tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "espalier: the package rich is not installed; install espalier[cli]\n"


@pytest.mark.parametrize(
    ("folders", "extras"),
    [(["src/espalier"], ["parse"]), (["src/espalier/report", "pipeline"], ["parse", "pipeline", "cluster"])],
)
def test_every_package_that_is_imported_is_required(folders: list[str], extras: list[str]) -> None:
    """The library by itself, parsers apart, imports nothing of the extra `pipeline`."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    installed = required(lines)
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    files = [file for file in files if "report" in folders[0] or "report" not in file.parts]
    lacking = {
        (top, str(file.relative_to(ROOT)))
        for file in files
        for top in imports(file)
        if top in PACKAGES and not PACKAGES[top] & installed
    }
    assert len(files) > 30 and not lacking


def imports(file: Path) -> set[str]:
    """The packages that a file imports, in functions too."""
    nodes = [*ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names} - {"espalier", "pipeline"}


def test_a_missing_expander_is_named(guided: Path, tmp_path: Path) -> None:
    shutil.rmtree(guided / "expander")
    with pytest.raises(ArtifactError, match=r"models/expander/system.json: no such file"):
        export_system(guided / "writer", tmp_path / "out")
    assert not (tmp_path / "out").exists()
