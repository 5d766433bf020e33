"""Planning of labels: how many more days to label, and which.

- `day_similarity`: profiles of days from their readings, and how dissimilar two days are
- `learning_curve`: error as a function of the number of labelled days
- `reasons`: why a day is recommended
- `plan`: recommended days
"""
