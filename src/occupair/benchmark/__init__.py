"""Every method on every room: the same day-wise folds, the same scores, nothing of the future.

- `folds`, `methods`, `runs`: days cut into folds, what is compared, one method on one fold
- `lookahead`: methods that peek at the future are found and refused
- `cache`, `sources`: results kept by content
- `scores`, `intervals`: how good, and how sure that is
- `run`, `result`: the whole benchmark
- `tables`, `figures`, `page`, `command`: what people see of it
- `coverage`, `few_days`, `quiet`: how often ranges hold, how few labelled days are enough
- `proofs`, `proof_tables`: both on public rooms, and what people see of them
"""
