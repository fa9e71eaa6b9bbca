"""The commands of the command line, one module each, and what they share; they know nothing of typer."""
