"""What a result says in sentences: answers, warnings, phases."""
