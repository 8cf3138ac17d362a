"""Runs the functions as Lambda does: real runtime clients (`awslambdaric`), one role each."""
