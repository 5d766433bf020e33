"""The estimator of Jiang et al. 2016: features, training, network, live day and stability."""
