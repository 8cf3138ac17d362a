"""Python, as its own compiler sees it."""

from collections.abc import Iterator

from archivolt.domain.code_check import CodeError


def python_errors(text: str) -> Iterator[CodeError]:
    """Yield the first error of a module; the compiler tells no others.

    The version is that of the interpreter that runs the product.
    """
    try:
        # As py_compile does. What comes out is dropped: nothing runs it.
        compile(text, "<text>", "exec", dont_inherit=True)
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        yield CodeError(line=max(line, 1), column=max(column, 1), message=error.msg)
    except ValueError as error:
        yield CodeError(line=1, column=1, message=str(error))
