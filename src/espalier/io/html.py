"""Pages of HTML from Jinja templates."""

from jinja2 import Environment, PackageLoader, StrictUndefined


def html_environment(package: str) -> Environment:
    """The templates of a package's folder `templates`. Texts are escaped, and an unknown name is an error."""
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
