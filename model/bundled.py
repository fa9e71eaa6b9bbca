"""Where the specifications that come with killpoint lie."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def specification_directory() -> Path:
    """Return the directory of the bundled specifications (YAML files and the JSON Schema for editors).

    In a checkout this is the repository's own ``spec/``; in an installed wheel it is the copy that was packed beside
    this module. The packed copy is looked for first: only a wheel has one, and there ``spec`` beside the package would
    be somebody else's.

    Raises:
        FileNotFoundError: neither exists, so the installation is incomplete.
    """
    packed, checkout = _PACKAGE / "_spec", _PACKAGE.parent / "spec"
    for directory in (packed, checkout):
        if directory.is_dir():
            return directory
    raise FileNotFoundError(f"the bundled specifications are missing: neither {packed} nor {checkout} is a directory")
