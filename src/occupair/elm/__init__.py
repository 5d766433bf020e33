"""Extreme learning machines: a random hidden layer and a ridge read-out.

- `cores`: work distributed over the cores
- `hidden_layer`: the random hidden layer, and the normal equations of the read-out
- `regressors`: scikit-learn regressors
"""
