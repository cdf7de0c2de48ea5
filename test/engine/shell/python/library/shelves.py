"""A neighbour that the tools import."""


def is_allowed(extended: int) -> bool:
    return extended < 2
