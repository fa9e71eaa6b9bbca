"""Reference implementations of the protocols, on real parts; nothing of the models is imported here."""
