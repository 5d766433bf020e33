"""The estimator of Jiang et al. 2016: features, live day, tuning and stability."""
