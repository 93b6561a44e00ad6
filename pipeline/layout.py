"""The paths of all files and folders, relative to a profile's folder."""

import os
from pathlib import Path

from espalier.io.errors import ConfigError

ROOT = Path(__file__).resolve().parents[1]
PROFILES = {"nursery": ROOT, "small": ROOT / "profiles" / "small", "paper": ROOT / "profiles" / "paper"}

PARAMS = Path("params.yaml")
#: DVC's hashes of all inputs and outputs.
LOCK = Path("dvc.lock")
#: The catalogue of published sources and the versions of components; of all profiles.
CATALOGUE = Path("pipeline/params/sources.yaml")
VERSIONS = Path("pipeline/params/versions.yaml")
#: An optional reference to nothing; DVC needs a path there, so each kind of artifact has a file of that name.
NONE = "none"


def raw(shelf: str) -> Path:
    """A shelf, with a folder for each of its sources and for each nested shelf."""
    return Path("data/raw") / shelf


def parsed(corpus: str) -> Path:
    """A corpus after reading and parsing: `records.parquet`, `quarantine.parquet`."""
    return Path("data/parsed") / corpus


def corpus(name: str) -> Path:
    """A corpus after filtering and splitting: one table per split, `quarantine.parquet`."""
    return Path("data/corpora") / name


def ready(dataset: str) -> Path:
    """A corpus encoded for one family of models."""
    return Path("data/ready") / dataset


def parser(name: str) -> Path:
    """A parser: `parser.json`, and its model if it was trained here."""
    return Path("data/parsers") / name


def annotation(name: str) -> Path:
    """The parses of the texts of a run."""
    return Path("data/annotations") / f"{name}.parquet"


def model(name: str) -> Path:
    """A trained model."""
    return Path("data/models") / name


#: The columns of a curve.
CURVE_COLUMNS = ("seed", "step", "train_loss", "dev_loss")


def curve(paper: str, name: str) -> Path:
    """The losses of a training, for DVC's plots."""
    return Path("data/curves") / paper / f"{name}.csv"


def output(paper: str, run: str) -> Path:
    """The outputs of a run."""
    return Path("data/outputs") / paper / f"{run}.parquet"


def metrics(group: str, key: str) -> Path:
    """The few numbers that DVC shows and compares, for a run of a paper, or for a corpus, dataset or parser."""
    return Path("metrics") / group / f"{key}.json"


def details(group: str, key: str) -> Path:
    """All other facts about the same entry: intervals, signatures, counts, settings."""
    return Path("metrics/details") / group / f"{key}.json"


def segments(paper: str, run: str) -> Path:
    """The statistics of each text of a run, from which its scores are computed."""
    return Path("data/segments") / paper / f"{run}.parquet"


def report(paper: str) -> Path:
    """The report of a paper."""
    return Path("reports") / paper


#: The printed numbers of papers, shared by all profiles.
PRINTED = ROOT / "papers" / "printed"


def printed(paper: str) -> Path:
    """The printed numbers of a paper."""
    return PRINTED / f"{paper}.yaml"


def report_summary(paper: str) -> Path:
    """The overview of a report for the page over all papers."""
    return Path("reports/summaries") / f"{paper}.json"


#: The page over all papers.
SITE = Path("reports/index.html")


def provenance(name: str) -> Path:
    """The origin of a model that was trained elsewhere; committed to git, only for such models."""
    return Path("metrics/provenance") / f"{name}.json"


def measured(stage: str, key: str) -> Path:
    """Duration and hardware of a training, a decoding or a parsing; not tracked by DVC, since it differs each time."""
    return Path("metrics/measured") / stage / f"{key}.json"


def scratch(*parts: str) -> Path:
    """Scratch folder, ignored by DVC and git: checkpoints, partial downloads, locks."""
    return Path(".scratch").joinpath(*parts)


def mirror() -> Path | None:
    """The folder of published files in `ESPALIER_MIRROR`, relative to the root of the project.

    Raises:
        ConfigError: the folder does not exist.
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
