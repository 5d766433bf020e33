"""One kind of error for everything a user can put right."""


class InputError(ValueError):
    """Something that was given breaks a rule; the message says what, where and which rule.

    The command line shows the message as one line and exits with 2. Any other exception is a bug and
    keeps its traceback.
    """
