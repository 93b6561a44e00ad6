"""The tasks, each imported when it is used.

Add your own in a module listed under `plugins` in params.yaml: `TASKS["mine"] = Mine()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from espalier.io.registry import Registry
from espalier.tasks.task import Task

if TYPE_CHECKING:
    from espalier.tasks.compose import ComposeTask
    from espalier.tasks.dialogue import DialogueTask
    from espalier.tasks.paraphrase import ParaphraseTask
    from espalier.tasks.verse import VerseTask

    # Names are imported when they are used, so only here does the type checker see that they follow the protocol.
    _TYPED: tuple[Task, ...] = (VerseTask(), ParaphraseTask(), DialogueTask(), ComposeTask())

TASKS: Final = Registry[Task](
    "TASKS",
    "task",
    Task,
    {
        "verse": "espalier.tasks.verse:VerseTask",
        "paraphrase": "espalier.tasks.paraphrase:ParaphraseTask",
        "dialogue": "espalier.tasks.dialogue:DialogueTask",
        "compose": "espalier.tasks.compose:ComposeTask",
    },
)
