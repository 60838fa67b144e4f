"""What every room needs: errors, quantities with units, statistics of repeated values, progress, signals."""
