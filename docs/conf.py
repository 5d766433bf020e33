"""Settings of the documentation site (Sphinx), built by ``make docs``."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs/_extensions")]

from occupair._version import __version__  # noqa: E402
from tools.reference import write_pages  # noqa: E402

write_pages(ROOT / "docs/reference")

project = "occupair"
author = "the authors of occupair"
copyright = "the authors of occupair, MIT licence"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "repository_links",
]
exclude_patterns = ["_extensions", "gallery", "figures/*.py"]
highlight_language = "text"  # indented blocks without a language
nitpick_ignore_regex = [("py:.*", r"(?!occupair\b).*")]  # names of other packages: no inventories offline

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 4

sphinx_gallery_conf = {  # runs the scripts in gallery/ and writes a page for each to figures/
    "examples_dirs": "gallery",
    "gallery_dirs": "figures",
    "within_subsection_order": "FileNameSortKey",
    "image_srcset": ["2x"],
    "thumbnail_size": (560, 400),
    "notebook_extensions": set(),
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "write_computation_times": False,
}

autosummary_generate = False
autodoc_typehints = "none"  # numpydoc states the types
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "occupair"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {"figures/*": [], "tutorial/*": []}
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # excerpts are fetched, which browsers refuse for file://
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "occupair"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "search_bar_text": "Search the documentation",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
smartquotes = False  # "--out" is no dash
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
linkcheck_timeout = 20
