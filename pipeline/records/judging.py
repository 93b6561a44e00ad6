"""The outputs that people judge, their automatic scores, and the key of a sample."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from espalier.io.errors import ConfigError, DataError
from espalier.io.files import no_number, write_json
from espalier.io.tables import table_sha256
from espalier.io.validation import first_mistake
from espalier.judging.lists import Row
from espalier.judging.protocol import Protocol
from espalier.judging.sample import Sample
from espalier.report.comparisons import RunSegments
from espalier.report.items import values_of
from espalier.tasks.candidates import taken
from pipeline import layout
from pipeline.params.entries import Params
from pipeline.records.artifacts import own_segments, read_segments, read_texts

if TYPE_CHECKING:
    from espalier.text.language import Language

#: The key of a sample, the datasheet beside it, and the folder of the raters' files beside the folder of the key.
KEY = Path("key/key.json")
HEDS = KEY.with_name("heds.json")
FOR_RATERS = Path("for_raters")


def rows_of(paper: str, run: str) -> list[Row]:
    """The scored outputs of a run as text, by column."""
    table = taken(read_texts(paper, run), own_segments(read_segments(paper, run)))
    ordered = table.sort_values(["seed", "sample"], kind="stable")
    return [{str(name): str(value) for name, value in row.items()} for row in ordered.to_dict("records")]


def output_hashes(protocol: Protocol) -> dict[str, str]:
    """The hash of the outputs of each run."""
    return {run: table_sha256(layout.output(protocol.paper, run)) for run in protocol.runs}


def language_of(protocol: Protocol, params: Params) -> Language:
    """The language of the judged texts."""
    return params.language_of(params.runs[protocol.runs[0]].dataset)


def automatic_scores(protocol: Protocol, params: Params) -> dict[str, dict[str, dict[str, float]]]:
    """The values of the stand-ins of all criteria, by metric, run and record id; of the best text for a record."""
    wanted = dict.fromkeys(name for criterion in protocol.criteria.values() for name in criterion.stand_ins)
    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in wanted}
    for run in protocol.runs:
        table = own_segments(read_segments(protocol.paper, run))
        segments = RunSegments(table, params.runs[run].task)
        first = table.sort_values(["seed", "sample"], kind="stable").drop_duplicates("id").set_index("id")
        for metric, columns in segments.metrics:
            if metric.name in wanted and not metric.corpus_level:
                found[metric.name][run] = values_of(metric, columns, first)
    return found


def write_key(path: Path, sample: Sample) -> None:
    """Write the key of a sample."""
    write_json(path, {"sample": sample.hash, **sample.model_dump(mode="json")})


def read_key(path: Path) -> Sample:
    """Read the key of a sample.

    Raises:
        DataError: it does not exist, is no key, or was changed after it was written.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"), parse_constant=no_number)
        written = value.pop("sample")
        sample = Sample.model_validate(value)
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", file=path, remedy="name the key of the sample") from error
    except ValidationError as error:
        place, what = first_mistake(error)
        raise DataError(f"no key of a sample ({place}: {what})", file=path) from error
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise DataError(
            "no key of a sample", file=path, remedy="espalier judge sample writes one as key/key.json"
        ) from error
    if sample.hash != written:
        raise DataError("its items are not those of its sample", file=path, remedy="restore the key as it was written")
    return sample


def require_present(sample: Sample, key: Path, params: Params) -> None:
    """Refuse a sample whose runs are of another profile, or were decoded anew since it was drawn.

    Raises:
        ConfigError: the sample is of another profile, or a run is no longer in it.
        DataError: the outputs of a run are no longer those of the sample.
        ArtifactError: the outputs of a run are missing.
    """
    if sample.profile != params.profile:
        raise ConfigError(
            f"a sample of profile {sample.profile}, not {params.profile}",
            where=str(key),
            remedy=f"--profile {sample.profile}",
        )
    if gone := [run for run in sample.protocol.runs if run not in params.runs]:
        raise ConfigError.unknown("run", gone[0], params.runs, where=str(key))
    now = output_hashes(sample.protocol)
    if changed := [run for run in sample.protocol.runs if now[run] != sample.outputs.get(run)]:
        raise DataError(
            f"run {changed[0]} was decoded anew after the sample was drawn",
            file=key,
            remedy="its ratings are of other texts: restore the outputs (dvc checkout), or draw a new sample",
        )


def read_files(paths: Sequence[Path]) -> dict[str, str]:
    """The text of raters' files by path.

    Raises:
        DataError: a file is named twice, cannot be read or is not UTF-8.
    """
    files: dict[str, str] = {}
    for path in paths:
        if str(path) in files:
            raise DataError("named twice", file=path, remedy="give one file for each rater")
        try:
            files[str(path)] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise DataError("not UTF-8", file=path, remedy="save the file as CSV in UTF-8") from error
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror})", file=path) from error
    return files


def levels_of(given: Sequence[str], names: Sequence[str], *, where: str) -> dict[str, float]:
    """The numbers of options NAME=LEVEL.

    Raises:
        ConfigError: a name is unknown, or a level is no number of 0 or more.
    """
    levels = {}
    for option in given:
        name, _, level = option.partition("=")
        if name not in names:
            raise ConfigError.unknown("name", name, names, where=where)
        try:
            levels[name] = float(level)
        except ValueError:
            levels[name] = -1.0
        if not 0 <= levels[name] < 1000:
            raise ConfigError(f"no level '{level}'", where=where, remedy=f"NAME=LEVEL, as {names[0]}=2.5")
    return levels


def require_difference(difference: float) -> None:
    """Refuse a difference that is not above 0.

    Raises:
        ConfigError: it is not.
    """
    if not 0 < difference < math.inf:
        raise ConfigError(f"no difference of {difference:g} levels", where="--difference", remedy="a number above 0")
