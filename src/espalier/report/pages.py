"""Markdown pages with numbers from files: a template has the prose and calls functions for numbers and tables."""

from typing import Final

from jinja2 import Environment, StrictUndefined, TemplateError

from espalier.io.errors import ArtifactError
from espalier.report.page_numbers import PageNumbers

#: A generated part of a page lies between these lines.
BEGIN: Final = "<!-- numbers: written by `espalier pages` -->"
END: Final = "<!-- end of numbers -->"
#: The line between two parts in the template of a page.
NEXT: Final = "<!-- next part -->"


def render_page(template: str, where: str, numbers: PageNumbers) -> str:
    """Render a Jinja template that calls the functions of `numbers`.

    Args:
        where: name of the template, for errors.

    Raises:
        ArtifactError: the template is invalid, or asks for a place, score or number that does not exist.
    """
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True, autoescape=False)
    try:
        return environment.from_string(template).render(numbers.functions)
    except TemplateError as error:
        raise ArtifactError(str(error), where=where, remedy="correct the template") from error
    except (LookupError, TypeError, ValueError) as error:  # of a call with wrong arguments
        raise ArtifactError(f"{type(error).__name__}: {error}", where=where, remedy="correct the template") from error


def with_numbers(page: str, text: str, where: str) -> str:
    """Replace the lines of a page between `BEGIN` and `END`, part by part, by the parts of a text between `NEXT`.

    Raises:
        ArtifactError: the page and the text have different numbers of parts.
    """
    parts = text.split(f"{NEXT}\n")
    before, *rest = page.split(f"{BEGIN}\n")
    if len(rest) != len(parts) or END in before or any(each.count(f"{END}\n") != 1 for each in rest):
        raise ArtifactError(
            f"the parts between {BEGIN} and {END} are not {len(parts)}", where=where, remedy="put the lines back"
        )
    after = (each.partition(f"{END}\n")[2] for each in rest)
    pairs = zip(parts, after, strict=True)
    return before + "".join(f"{BEGIN}\n{part.strip()}\n{END}\n{kept}" for part, kept in pairs)
