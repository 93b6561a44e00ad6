"""What is imported when: training, decoding and metrics run on a bare machine, and --help at once."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pipeline.shell.app  # noqa: F401  which adds the stages
from espalier.cli.app import _group

ROOT = Path(__file__).resolve().parents[2]

#: Refuses what a bare machine lacks, then imports every module of some packages and prints what came with them.
BARE = """
import importlib, pkgutil, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {refused!r}:
            raise ModuleNotFoundError(f"{{name}} is not on this machine", name=name)
sys.meta_path.insert(0, Missing())
sys.path[:0] = [{root!r}, {src!r}]
for package in {packages!r}:
    imported = importlib.import_module(package)
    for module in pkgutil.walk_packages(getattr(imported, "__path__", []), f"{{package}}."):
        importlib.import_module(module.name)
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""
NEVER = {"dvc", "typer", "click", "rich", "matplotlib", "jinja2", "requests", "filelock", "spacy", "benepar", "ltp"}
TORCH = {"torch", "accelerate", "safetensors"}


def imported(packages: list[str], refused: set[str]) -> set[str]:
    script = BARE.format(refused=refused, root=str(ROOT), src=str(ROOT / "src"), packages=packages)
    # What is installed beside the project imports itself on demand (accelerate looks for rich): -I keeps it out.
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "packages",
    [
        ["espalier.metrics"],
        ["espalier.decoding", "espalier.models", "espalier.layers"],
        ["espalier.training"],
    ],
    ids=lambda names: names[0].removeprefix("espalier."),
)
def test_a_bare_machine_can_train_decode_and_score(packages: list[str]) -> None:
    refused = NEVER - {"rich"}  # accelerate may take it where it is there
    modules = imported(packages, refused)
    assert not modules & refused
    assert "espalier" in modules and "pipeline" not in modules


def test_metrics_need_no_torch() -> None:
    assert "torch" not in imported(["espalier.metrics"], {"torch", "accelerate"})


def test_an_optimizer_does_not_wait_for_the_compiler() -> None:
    script = (
        "import sys; from torch import nn; from espalier.training.config import TrainingConfig; "
        "from espalier.training.optimization import Optimizer; model = nn.Linear(1, 1); "
        "optimizer = Optimizer(model, TrainingConfig(steps=1)); model.weight.sum().backward(); optimizer.step(); "
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": str(ROOT / "src")}, check=False).returncode
        == 0
    )


def test_params_yaml_is_checked_without_torch() -> None:
    data = [f"espalier.datasets.{encoding}" for encoding in ("verse", "pairs", "dialogue")]
    tasks = [f"espalier.tasks.{task}" for task in ("verse", "paraphrase", "dialogue")]
    registries = ["espalier.models.registry", "espalier.datasets.registry", "espalier.tasks.registry"]
    imported([*registries, *data, *tasks, "pipeline.params"], TORCH)


def test_what_a_command_can_be_asked_for_is_known_without_torch() -> None:
    modules = [f"espalier.inference.{name}" for name in ("system", "registry", "requests", "results", "folder")]
    imported([*modules, "pipeline.records.systems", "espalier.cli.requests"], {"torch", "accelerate", "safetensors"})


#: Of tables, scores, parsers and reports: half a second to two seconds each.
SLOW = {"pandas", "pyarrow", "sacrebleu", "nltk", "scipy", "spacy", "benepar", "transformers", "ltp", "jieba", "dask",
        "distributed", "matplotlib", "jinja2", "dvc", "accelerate", "requests"}  # fmt: skip


def test_a_command_that_writes_loads_its_model_without_what_is_slow_to_import() -> None:
    writers = [f"espalier.inference.{name}" for name in ("verse", "dialogue", "plain_paraphrase", "paraphrase")]
    imported(["espalier.cli.commands", "pipeline.records.systems", "espalier.models.serialization", *writers], SLOW)


def test_verse_is_written_without_what_is_slow_to_import(built: Path, run: Callable[..., Any]) -> None:
    script = (
        "import contextlib, sys; sys.path[:0] = ['.', 'src']; from espalier.cli.app import main\n"
        "sys.argv[1:] = ['generate', '--format', '5,5。', '--json', '--profile', 'nursery']\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    answer = run(built, sys.executable, "-c", script)
    poem, modules = answer.out.splitlines()
    assert json.loads(poem)["model"] == "songnet"
    assert not SLOW & set(modules.split())


def test_the_readings_of_single_characters_need_no_phrases() -> None:
    script = (
        "import hashlib; from pypinyin import Style, pinyin; from pypinyin.constants import PHRASES_DICT, PINYIN_DICT\n"
        "readings = [pinyin(chr(each), style=Style.FINALS_TONE3, strict=True) for each in sorted(PINYIN_DICT)[::20]]\n"
        "print(bool(PHRASES_DICT), len(readings), hashlib.sha256(repr(readings).encode()).hexdigest())"
    )

    def answer(**more: str) -> list[str]:
        done = subprocess.run([sys.executable, "-c", script], env=more, capture_output=True, text=True, check=True)
        return done.stdout.split()

    whole, bare = answer(), answer(PYPINYIN_NO_PHRASES="1")
    assert (whole[0], bare[0]) == ("True", "False") and int(whole[1]) > 2000
    assert whole[1:] == bare[1:]


def test_the_scoring_stage_needs_neither_torch_nor_dvc_nor_the_command_line() -> None:
    imported(
        ["pipeline.stages.score"], {"torch", "accelerate", "dvc", "typer", "click", "matplotlib", "jinja2", "requests"}
    )


def test_no_other_stage_needs_dvc_or_drawing() -> None:
    """One process refuses these to all: what a stage imports itself is refused to it though another has come before."""
    stages = ("train", "decode", "linearize", "canonicalize", "filter", "parse", "baselines")
    modules = imported(
        [f"pipeline.stages.{stage}" for stage in stages], {"dvc", "typer", "click", "matplotlib", "jinja2", "requests"}
    )
    assert "torch" in modules


def test_trees_are_read_grown_and_compared_without_a_second_s_wait_for_nltk() -> None:
    syntax = [f"espalier.syntax.{path.stem}" for path in (ROOT / "src/espalier/syntax").glob("*.py")]
    of_trees = [*syntax, "espalier.nursery", "espalier.metrics.ted", "espalier.metrics.brackets"]
    stages = ["pipeline.stages.train", "pipeline.stages.linearize", "pipeline.stages.decode"]
    imported([*of_trees, *stages, "espalier.training", "espalier.models", "espalier.decoding"], {"nltk"})


def test_help_answers_within_half_a_second_of_work() -> None:
    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, str(ROOT / "pipeline"), "--help"], capture_output=True, check=True)
        assert b"generate" in done.stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(3)) < 0.5


@pytest.mark.parametrize(("given", "threads"), [({}, 1), ({"OMP_NUM_THREADS": "2"}, 2)])
def test_one_thread_computes_unless_the_environment_says_otherwise(given: dict[str, str], threads: int) -> None:
    script = (
        "import contextlib, sys; from espalier.cli.app import main; sys.argv[1:] = ['--help']\n"
        "with contextlib.suppress(SystemExit): main()\n"
        "import torch; sys.exit(torch.get_num_threads())"
    )
    env = {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", **given}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, check=False)
    assert done.returncode == threads


def test_help_imports_nothing_heavy() -> None:
    modules = imported(["pipeline.shell.app"], {"torch", "pandas", "numpy", "pyarrow", "dvc", "pydantic", "matplotlib"})
    assert not modules & {"torch", "pandas", "numpy", "pyarrow", "dvc", "pydantic", "accelerate"}


def test_the_command_uses_the_code_of_its_own_tree(built: Path, run: Callable[..., Any], tmp_path: Path) -> None:
    """Whichever espalier is installed, and whatever stands in the folder where it is called."""
    (tmp_path / "espalier.py").write_text("raise SystemExit('the wrong one')", encoding="utf-8")
    (tmp_path / "typing.py").write_text("raise SystemExit('the wrong one')", encoding="utf-8")
    answer = run(tmp_path, sys.executable, str(built / "pipeline"), "generate", "--help")
    assert answer.status == 0 and "--format" in answer.out


@pytest.mark.parametrize("name", ["generate", "train", "judge", "new"])
def test_only_the_command_that_is_called_is_prepared(name: str) -> None:
    assert list(_group(name).commands) == [name]


@pytest.mark.parametrize("name", ["", "--help", "--version", "nonsense"])
def test_all_commands_are_prepared_if_none_is_named(name: str) -> None:
    assert {"generate", "train", "judge", "new"} < _group(name).commands.keys()
