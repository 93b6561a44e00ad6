"""The tasks. Add your own in a module listed under `plugins` in params.yaml: `TASKS["mine"] = Mine()`."""

from __future__ import annotations

from typing import Final

from espalier.io.registry import entry
from espalier.tasks.compose import ComposeTask
from espalier.tasks.dialogue import DialogueTask
from espalier.tasks.paraphrase import ParaphraseTask
from espalier.tasks.task import Task
from espalier.tasks.verse import VerseTask

TASKS: Final[dict[str, Task]] = {
    "verse": VerseTask(),
    "paraphrase": ParaphraseTask(),
    "dialogue": DialogueTask(),
    "compose": ComposeTask(),
}


def task(name: str, *, where: str | None = None) -> Task:
    """The task registered under `name`.

    Raises:
        ConfigError: the name is not registered; `where` is the key of params.yaml with the name.
    """
    return entry("task", TASKS, name, where=where)
