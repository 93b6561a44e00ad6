"""download: fetch and verify the published files of a source."""

from typing import TYPE_CHECKING

from espalier.cli.progress import progress_bar
from espalier.corpora.download import fetch
from espalier.io.registry import entry
from pipeline import layout
from pipeline.params.read import load_catalogue, load_params

if TYPE_CHECKING:
    import rich.progress


def run(key: str) -> None:
    """Fetch one source into `data/raw/<shelf>/<key>/`."""
    params = load_params()
    shelf = entry("source", params.sources.published, key).shelf
    source = load_catalogue(params)[key]
    with progress_bar() as bar:
        tasks: dict[str, rich.progress.TaskID] = {}

        def report(name: str, received: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=received, visible=received < total)

        fetch(
            source,
            layout.raw(shelf) / key,
            mirror=layout.mirror(),
            scratch=layout.scratch("download", key),
            report=report,
        )
