"""The tasks, each imported when it is used.

Add your own in a module listed under `plugins` in params.yaml: `TASKS["mine"] = Mine()`.
"""

from typing import Final

from espalier.io.registry import Registry
from espalier.tasks.task import Task

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
