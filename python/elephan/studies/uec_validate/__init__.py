"""Ultra Ethernet beside the validation of uet-htsim (2025). See README.md."""
