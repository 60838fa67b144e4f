"""Where runs run: on this machine's cores, on Dask workers, in elements of a SLURM array."""
