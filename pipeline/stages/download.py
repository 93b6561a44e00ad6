"""download: a source's published files, verified, from the mirror or the web."""

from __future__ import annotations

from pipeline import layout
from pipeline.params import entry, load_params
from pipeline.progress import progress_bar


def run(key: str) -> None:
    """Fetch one source into `data/raw/<key>/`."""
    from espalier.corpora.download import fetch

    source = entry("source", load_params().sources, key)
    with progress_bar() as bar:
        tasks = {file.name: bar.add_task(file.name, total=file.bytes, note="", visible=False) for file in source.files}
        fetch(
            source,
            layout.raw(key),
            mirror=layout.mirror(),
            scratch=layout.scratch("download", key),
            report=lambda name, done, total: bar.update(tasks[name], completed=done, total=total, visible=done < total),
        )
