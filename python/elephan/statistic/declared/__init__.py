"""The statistics that there are: a file declares some of them (`elephan.statistic.measure.measure`) and is found by itself."""
