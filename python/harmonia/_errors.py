"""What goes wrong, as exceptions. Each carries the one line that the program prints."""


class Error(Exception):
    """Anything that a call of this package is refused for."""


class UsageError(Error, ValueError):
    """An argument is wrong."""


class InputError(Error, ValueError):
    """The data, or a file, is wrong."""


class ModelError(Error, RuntimeError):
    """The model failed, or answered what cannot be used."""


class HarmoniaWarning(UserWarning):
    """Something about a result that its reader should know."""
