"""The profiles, and working in the folder of a profile."""

import os
from enum import StrEnum
from typing import Annotated

import typer

from pipeline import layout


class Profile(StrEnum):
    """The name of a profile: a params.yaml and the artifacts beside it."""

    nursery = "nursery"
    small = "small"
    paper = "paper"


ProfileOption = Annotated[Profile | None, typer.Option(help="The profile; default: that of this folder, else nursery.")]


def enter(profile: Profile | None) -> None:
    """Work in the folder of a profile: the named one, else the present one if it has a params.yaml, else nursery."""
    if profile is not None:
        os.chdir(layout.PROFILES[profile])
    elif not layout.PARAMS.exists():
        os.chdir(layout.PROFILES[Profile.nursery])
