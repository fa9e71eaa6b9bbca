"""How long Hypothesis tries: `ci` repeats a few examples; `--hypothesis-profile=thorough` takes many new ones."""

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "ci", max_examples=100, derandomize=True, database=None, deadline=None, print_blob=True, suppress_health_check=_SLOW
)
settings.register_profile("thorough", max_examples=3_000, deadline=None, print_blob=True, suppress_health_check=_SLOW)
settings.load_profile("ci")
