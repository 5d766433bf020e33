"""The HTML report: figures, captions and tables of one run of the paper's experiment."""
