"""Published experiments made executable: one folder per study with scenario files, claims, figures and a README."""
