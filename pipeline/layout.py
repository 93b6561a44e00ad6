"""The paths of all files and folders, relative to a profile's folder."""

from __future__ import annotations

import os
from pathlib import Path

from espalier.io.errors import ConfigError

ROOT = Path(__file__).resolve().parents[1]
PROFILES = {"nursery": ROOT, "small": ROOT / "profiles" / "small", "paper": ROOT / "profiles" / "paper"}

PARAMS = Path("params.yaml")
#: The catalogue of published sources and the versions of components; of all profiles.
CATALOGUE = Path("pipeline/params/sources.yaml")
VERSIONS = Path("pipeline/params/versions.yaml")
#: An optional reference to nothing; DVC needs a path there, so each kind of artifact has a file of that name.
NONE = "none"


def raw(shelf: str) -> Path:
    """A shelf: a folder for each of its sources, and for each shelf that is nested in it."""
    return Path("data/raw") / shelf


def parsed(corpus: str) -> Path:
    """A corpus as it was read and parsed: `records.parquet`, `quarantine.parquet`."""
    return Path("data/parsed") / corpus


def corpus(name: str) -> Path:
    """A corpus filtered and split: one table a split, `quarantine.parquet`."""
    return Path("data/corpora") / name


def ready(dataset: str) -> Path:
    """A corpus in the form that one family of models reads."""
    return Path("data/ready") / dataset


def parser(name: str) -> Path:
    """A parser: `parser.json`, and its model if it was trained here."""
    return Path("data/parsers") / name


def annotation(name: str) -> Path:
    """A run's texts, parsed again."""
    return Path("data/annotations") / f"{name}.parquet"


def model(name: str) -> Path:
    """A trained model."""
    return Path("data/models") / name


#: The columns of a curve.
CURVE_COLUMNS = ("seed", "step", "train_loss", "dev_loss")


def curve(paper: str, name: str) -> Path:
    """A training's losses, as DVC plots them."""
    return Path("data/curves") / paper / f"{name}.csv"


def output(paper: str, run: str) -> Path:
    """What a run wrote."""
    return Path("data/outputs") / paper / f"{run}.parquet"


def metrics(group: str, key: str) -> Path:
    """Few numbers under short keys, which DVC shows and compares; of a paper's run, or of a corpus, dataset, parser."""
    return Path("metrics") / group / f"{key}.json"


def details(group: str, key: str) -> Path:
    """All else that is known of the same: intervals, signatures, counts, settings."""
    return Path("metrics/details") / group / f"{key}.json"


def segments(paper: str, run: str) -> Path:
    """The statistics of each of a run's texts, of which its scores are made."""
    return Path("data/segments") / paper / f"{run}.parquet"


def report(paper: str) -> Path:
    """A paper's report."""
    return Path("reports") / paper


#: What the papers print; of all profiles.
PRINTED = ROOT / "papers" / "printed"


def printed(paper: str) -> Path:
    """What a paper prints."""
    return PRINTED / f"{paper}.yaml"


def report_summary(paper: str) -> Path:
    """What the page over all papers shows of a report."""
    return Path("reports/summaries") / f"{paper}.json"


#: The page over all papers.
SITE = Path("reports/index.html")


def provenance(name: str) -> Path:
    """How a model was made that was trained elsewhere; in git, and only for such models."""
    return Path("metrics/provenance") / f"{name}.json"


def measured(stage: str, key: str) -> Path:
    """How long a training, a decoding or a parsing took, on which hardware; no artifact, for it differs each time."""
    return Path("metrics/measured") / stage / f"{key}.json"


def scratch(*parts: str) -> Path:
    """Undeclared and ignored by git: checkpoints, partial downloads, locks."""
    return Path(".scratch").joinpath(*parts)


def mirror() -> Path | None:
    """The folder of published files that `ESPALIER_MIRROR` names, seen from where the project stands.

    Raises:
        ConfigError: it names a folder that is not there.
    """
    named = os.environ.get("ESPALIER_MIRROR")
    if not named:
        return None
    # Stages run in their profile's folder, people in the root; a relative path means theirs.
    path = Path(named) if Path(named).is_absolute() else ROOT / named
    if not path.is_dir():
        raise ConfigError(
            f"no folder '{named}'", where="ESPALIER_MIRROR", remedy="unset it, or name the mirror's folder"
        )
    return path
