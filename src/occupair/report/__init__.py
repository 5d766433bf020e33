"""HTML reports: the paper's experiment, and the data quality check.

- `paper_experiment`, `published_results`: the experiment, and the results printed in the paper
- `paper_report`, `paper_figures`, `paper_captions`, `paper_comparison`: the report of the experiment
- `check_page`, `check_figures`: the report of ``occupair check``
- `html_page`, `figure_style`, `plot_traces`, `number_format`: shared by all reports
"""
