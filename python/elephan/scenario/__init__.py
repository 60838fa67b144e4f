"""From texts and objects to the core: the scenario language, guests, the consent to run their code."""
