"""HTML reports: the paper's experiment, and the data quality check.

- `paper_experiment`: the experiment of the paper
- `published_results`: the results printed in the paper
- `paper_figures`, `paper_captions`, `paper_comparison`: figures, text and tables of its report
- `paper_report`: the report of the experiment
- `check_figures`: figures of the check report
- `check_page`: the report of ``occupair check``
- `offline_page`: pages of many rooms, without plotly
- `html_page`, `text_table`, `figure_style`, `plot_traces`, `number_format`: shared by all reports
"""
