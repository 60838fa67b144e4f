"""Networks that other programs describe, as scenarios."""
