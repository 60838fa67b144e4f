"""Data Center TCP (Alizadeh et al., SIGCOMM 2010): DCTCP against TCP in shallow switches. See README.md."""
