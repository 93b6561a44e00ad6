"""The nursery's YAML files: words, forms and rules."""

from importlib import resources
from typing import Any

import yaml


def load(name: str) -> Any:
    """Load one of the YAML files.

    Raises:
        yaml.YAMLError: the file is not YAML.
    """
    return yaml.safe_load(resources.files("espalier.nursery").joinpath(name).read_text(encoding="utf-8"))
