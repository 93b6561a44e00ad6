"""Addresses in a report: of its other pages, of the documentation, and of the files that its numbers are from."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Links:
    """Relative addresses, as seen from the folder of a page.

    Attributes:
        reports: the folder of the papers' folders.
        profile: the folder of the profile, in which `details` and `metrics` are.
        root: the folder of the repository.
    """

    reports: str = "../"
    profile: str = "../../"
    root: str = "../../"

    @classmethod
    def below(cls, root: str, reports: str = "../", profile: str = "../../") -> Links:
        """The addresses for a profile, as seen from which the repository is `root`: "." or "../.."."""
        return cls(reports, profile, profile if root == "." else f"{profile}{root}/")

    @property
    def index(self) -> str:
        """The page over all papers."""
        return f"{self.reports}index.html"

    def page(self, paper: str, name: str = "index.html") -> str:
        """A page or a file of a paper."""
        return f"{self.reports}{quote(paper)}/{name}"

    def docs(self, name: str) -> str:
        """A page of the documentation."""
        return f"{self.root}docs/{quote(name)}"

    def details(self, group: str, key: str) -> str:
        """All numbers of a run, with intervals and signatures."""
        return f"{self.profile}metrics/details/{quote(group)}/{quote(key)}.json"

    def metrics(self, group: str, key: str) -> str:
        """The few numbers of a run that DVC compares."""
        return f"{self.profile}metrics/{quote(group)}/{quote(key)}.json"
