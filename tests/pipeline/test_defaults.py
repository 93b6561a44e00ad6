"""What a command does where no option is given: what the runs of the tables do."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from espalier.cli.command import Command
from espalier.cli.commands import COMMANDS
from espalier.inference.folder import read_system
from espalier.inference.registry import SERVICES, services_of
from espalier.inference.requests import SEARCH
from pipeline import layout
from pipeline.params.read import load_params
from pipeline.records.systems import options_of

ROOT = Path(__file__).resolve().parents[2]
OWN = "the model's own, else "
PROFILES = {"nursery": ROOT, "small": ROOT / "profiles/small", "paper": ROOT / "profiles/paper"}


@pytest.mark.parametrize("profile", PROFILES)
def test_the_defaults_of_a_command_are_the_settings_of_its_model_s_run_in_the_tables(
    profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PROFILES[profile])
    params = load_params(layout.PARAMS)
    compared = 0
    for key, model in params.models.items():
        runs = [run for run in params.runs.values() if run.model == key and run.split == "test"]
        own = options_of(params, key)
        assert list(own) == services_of(model.encoding, model.network)
        for service, options in own.items() if runs else ():
            default = SERVICES[service].options
            used = {field.name: field.default for field in fields(default)} | options
            shown = [run.decoder.model_dump() for run in runs]
            for name in ("length_power", "mmi", "temperature", "local"):
                if used.get(name) is not None:
                    assert used[name] in {run[name] for run in shown}, (key, service, name)
            sampled = [run for run in shown if run.get("method", "beam") != "beam"]
            if used["beam"]:
                assert used["beam"] in {run["beam"] for run in shown}, (key, service)
            else:
                assert used["top_k"] in {run["top_k"] for run in sampled}, (key, service)
            compared += 1
    assert compared > 5


def test_replies_of_the_profile_small_have_the_length_penalty_and_the_rank_chosen_on_dev(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(PROFILES["small"])
    params = load_params(layout.PARAMS)
    assert options_of(params, "x2tree") == {
        "reply": {"top_k": 32, "temperature": 1.0, "beam": 10, "local": 4, "length_power": 0.75, "mmi": 1.0}
    }
    assert options_of(params, "x2tree_encdec") == {
        "reply": {"top_k": 32, "temperature": 1.0, "beam": 10, "length_power": 0.75, "mmi": 0.0}
    }
    assert options_of(params, "guig_tg") == {"paraphrase": {"beam": 8, "length_power": 1.0}}
    assert options_of(params, "songnet")["generate"] == {"top_k": 32, "temperature": 1.0, "beam": 0}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_says_which_defaults_are_the_model_s_own(command: type[Command]) -> None:
    helps = {each.name: each.annotation.__metadata__[0].help for each in command.parameters()}
    for field in fields(command.options):
        if field.name in helps and field.default not in (None, False, ""):
            said = f"[default: {'' if field.name not in SEARCH else OWN}{field.default}]"
            assert helps[field.name].endswith(said)


@pytest.mark.parametrize("folder", sorted((ROOT / "released").iterdir()), ids=lambda folder: folder.name)
def test_a_released_model_has_the_settings_that_its_scores_are_of(folder: Path) -> None:
    """Its folder has them, wherever it is loaded."""
    from espalier.io.files import read_json

    decoders = [run["decoder"] for run in read_json(folder / "scores.json").values()]
    for service, options in read_system(folder).options.items():
        for name, value in options.items():
            if name != "beam" or value:
                assert value in {decoder[name] for decoder in decoders}, (service, name)
