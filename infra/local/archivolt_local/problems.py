"""What stops the stack from starting, told to a person in one sentence."""


class StartError(Exception):
    """A reason not to start (or not to find the stack); its text is shown as it is."""
