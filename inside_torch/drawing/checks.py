"""Checks of what a figure is given, which say what it should have been."""


def checked(value, kind: type, what: str):
    """The value, when it is of this kind; raises TypeError."""
    if not isinstance(value, kind):
        name = f"{kind.__module__}.{kind.__name__}".removeprefix("builtins.")
        raise TypeError(f"{what} must be a {name}, got {type(value).__name__}")
    return value


def checked_label(label, what: str) -> str:
    """The label, when it is one line of visible text; raises TypeError or ValueError."""
    if not checked(label, str, what).strip() or not label.isprintable():
        raise ValueError(f"{what} must be one line of visible text, got {label!r}")
    return label


def checked_dict(given, kind: type, what: str, most: int | None = None) -> dict:
    """The dict, when it maps labels that differ to values of this kind, at least one and `most` of them.
    Raises TypeError for another kind of thing, ValueError for their number and for labels alike."""
    checked(given, dict, what)
    if most and not 1 <= len(given) <= most:
        raise ValueError(f"a figure takes 1 to {most} {what}, got {len(given)}")
    for label, value in given.items():
        checked(value, kind, repr(checked_label(label, f"a label of {what}")))
    if len({label.strip() for label in given}) < len(given):
        raise ValueError(f"labels must differ by more than blanks, got {list(given)}")
    return given
