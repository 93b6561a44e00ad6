"""The command `judge score`: check and merge raters' files, and say what they say of the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from espalier.cli.progress import say
from espalier.io.errors import DataError
from espalier.io.files import read_json, write_json
from espalier.io.terminal import json_line, printable
from espalier.judging.answers import merged
from espalier.judging.heds import LEFT_OUT, Field, heds
from espalier.judging.result import details_of, headline, numbers_of, waiting_details
from espalier.judging.result_text import result_text, waiting_text
from espalier.judging.score import judged
from espalier.judging.stand_ins import stand_ins
from pipeline import layout
from pipeline.params.read import load_params
from pipeline.records.artifacts import write_metrics
from pipeline.records.judging import HEDS, automatic_scores, read_files, read_key, require_present
from pipeline.records.studies import JUDGED


def judge_score(files: Sequence[Path], key: Path, *, leave_out: bool, incomplete: bool, json: bool) -> None:
    """Print the result of raters' files, and write it as a metric; that of simulated raters is only printed.

    Args:
        files: raters' files; without any, only the stand-ins are printed.
        key: key of their sample.
        leave_out: show the result without the raters who failed the attention checks, beside that of all.
        incomplete: allow files in which questions have no answer.
        json: print all details as JSON.

    Raises:
        ConfigError, DataError, ArtifactError: as `read_key`, `require_present` and `merged`; or simulated ratings stand
            beside others, or all raters are to be left out.
    """
    sample = read_key(key)
    params = load_params()
    require_present(sample, key, params)
    values = automatic_scores(sample.protocol, params)
    if not files:
        beside = stand_ins(sample, values)
        print(json_line(waiting_details(sample, beside)) if json else printable(waiting_text(sample, beside)))
        return
    answers = merged(read_files(files), sample, incomplete=incomplete)
    simulated = [one.file for one in answers if one.simulated]
    if simulated and len(simulated) < len(answers):
        raise DataError("simulated, beside files of people", file=simulated[0], remedy="score them apart")
    found = judged(sample, answers)
    if leave_out and all(line.failed for line in found.raters):
        what = "no rater passed the attention checks"
        raise DataError(what, file=answers[0].file, remedy="ask others, or score without --leave-out")
    beside = stand_ins(sample, values, answers)
    details = details_of(sample, found, beside, leave_out=leave_out)
    print(json_line(details) if json else printable(result_text(sample, found, beside, leave_out=leave_out)))
    if simulated:
        say("simulated raters: nothing is written to metrics/")
        return
    shown = headline(found, leave_out=leave_out)
    name = f"{JUDGED}/{sample.name}"
    write_metrics(sample.protocol.paper, name, numbers_of(shown), details)
    task = params.runs[sample.protocol.runs[0]].task
    _write_heds(key.with_name(HEDS.name), heds(sample, task=task, panel=shown, raters=found.raters))
    say(f"{layout.details(sample.protocol.paper, name)}; dvc repro report@{sample.protocol.paper} shows it")


def _write_heds(path: Path, form: Mapping[str, Field]) -> None:
    """Write the datasheet. What it has of other fields stays: the power of the sample, and what people filled in.

    Whether raters are left out is said by this result alone.
    """
    before = read_json(path, dict[str, object]) if path.exists() else {}
    before.pop(LEFT_OUT, None)
    write_json(path, {**before, **form})
