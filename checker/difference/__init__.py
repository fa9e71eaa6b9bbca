"""What a change of a protocol means: two versions of a specification, compared."""
