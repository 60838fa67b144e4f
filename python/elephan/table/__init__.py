"""What the tables of a run say, as arrays: flows, ports, bursts, phases, congestion that spreads. Nothing here draws."""
