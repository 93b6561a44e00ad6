"""Addresses in a report: its other pages, the documentation, and the files of its numbers."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Links:
    """Relative addresses from the folder of a page.

    Attributes:
        reports: folder that contains the folders of the papers.
        profile: folder of the profile, with `details` and `metrics`.
        root: folder of the repository.
    """

    reports: str = "../"
    profile: str = "../../"
    root: str = "../../"

    @classmethod
    def below(cls, root: str, reports: str = "../", profile: str = "../../") -> Self:
        """The addresses for a profile, from a page for which the root of the repository is `root`: "." or "../.."."""
        return cls(reports, profile, profile if root == "." else f"{profile}{root}/")

    @property
    def index(self) -> str:
        """Address of the page over all papers."""
        return f"{self.reports}index.html"

    def page(self, paper: str, name: str = "index.html") -> str:
        """Address of a page or file of a paper."""
        return f"{self.reports}{quote(paper)}/{name}"

    def docs(self, name: str) -> str:
        """Address of a page of the documentation."""
        return f"{self.root}docs/{quote(name)}"

    def details(self, group: str, key: str) -> str:
        """Address of the file with all numbers of a run, including intervals and signatures."""
        return f"{self.profile}metrics/details/{quote(group)}/{quote(key)}.json"

    def metrics(self, group: str, key: str) -> str:
        """Address of the file with the few numbers of a run that DVC compares."""
        return f"{self.profile}metrics/{quote(group)}/{quote(key)}.json"
