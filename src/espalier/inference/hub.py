"""Models on the Hugging Face Hub: what `System.push_to_hub` writes there."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from espalier.inference.export import export_system
from espalier.inference.folder import CARD
from espalier.inference.released import HUB_NAME
from espalier.io.errors import ArtifactError, ConfigError
from espalier.io.imports import of_extra


def push(folder: Path, repository: str, *, private: bool = False, token: str | None = None) -> str:
    """Upload a model with its parts to a repository of the Hub, which is made if there is none.

    The files have the Hub's names, `config.json` and `model.safetensors`, and hold the weights of the lowest seed.

    Args:
        folder: folder of the model.
        repository: "user/name".
        private: whether only its owner sees a repository that is made.
        token: a token with the right to write; None for that of `HF_TOKEN` or of `hf auth login`.

    Returns:
        The address of the upload.

    Raises:
        ArtifactError: a part of the model is damaged or missing, or the Hub cannot be reached or refuses.
        ConfigError: the package `huggingface_hub` is not installed, or `repository` cannot be a name.
    """
    if not HUB_NAME.fullmatch(repository):
        raise ConfigError(f"'{repository}' is no name of a repository", remedy="user/name")
    with of_extra(None):
        from huggingface_hub import HfApi
    with TemporaryDirectory() as place:
        out = Path(place) / "model"
        export_system(folder, out, hub=True)
        if not (out / CARD).is_file():
            (out / CARD).write_text(_card(repository), encoding="utf-8")
        api = HfApi(token=token)
        try:
            api.create_repo(repository, private=private, exist_ok=True)
            done = api.upload_folder(repo_id=repository, folder_path=out, commit_message="Upload a model of Espalier")
        except (OSError, ValueError) as error:  # the Hub's errors are both
            what = f"not uploaded to the Hugging Face Hub ({type(error).__name__})"
            raise ArtifactError(what, where=repository, remedy="check the name, the network and HF_TOKEN") from error
    return str(done)


def _card(repository: str) -> str:
    """A card for a model that has none: how it is loaded."""
    name = repository.rpartition("/")[2]
    lines = [
        "---", "library_name: espalier", "---", "", f"# {name}", "", "```python", "import espalier", "",
        f'model = espalier.load("{repository}")', "```", "",
    ]  # fmt: skip
    return "\n".join(lines)
