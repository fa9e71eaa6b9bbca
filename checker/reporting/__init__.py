"""What was found, told: to a person at a terminal, to a program, to other tools, to the repository."""
