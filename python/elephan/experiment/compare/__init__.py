"""The panel that compares congestion controls: the same experiments for each, with paired seeds."""
