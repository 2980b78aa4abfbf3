"""Sphinx settings. `make docs` builds the site into build/docs, without a network (ADR 16)."""

import sys
from pathlib import Path

import surefoot

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

project = "surefoot"
author = "the surefoot authors"
version = release = surefoot.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "sphinx_copybutton",
    "executed",
    "mathml",
    "reference",
]
root_doc = "index"
exclude_patterns = ["_ext", "_static", "_templates", "adr"]
nitpicky = True
suppress_warnings = [
    "config.cache"
]  # a function for templates cannot be stored; nothing is cached anyway
# pages of other projects are not looked up: the build needs no network
nitpick_ignore_regex = [
    (
        "py:.*",
        r"(torch|torchmetrics|sklearn|scipy|numpy|pandas|polars|pyarrow|matplotlib|dask|duckdb)\b.*",
    )
]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

templates_path = [str(ROOT / "docs" / "_templates")]
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autosummary_generate = True
autosummary_imported_members = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "reset_modules": ("matplotlib",),
    "matplotlib_animations": False,
    "capture_repr": (),
    "image_scrapers": ("matplotlib",),
    "thumbnail_size": (480, 360),
}

html_theme = "pydata_sphinx_theme"
html_title = "surefoot"
html_static_path = [str(ROOT / "docs" / "_static")]
html_css_files = ["surefoot.css"]
html_favicon = str(ROOT / "docs" / "_static" / "mark.svg")
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_sidebars = {"index": [], "start": []}
html_theme_options = {
    "logo": {
        "text": "surefoot",
        "image_light": "_static/mark.svg",
        "image_dark": "_static/mark.svg",
    },
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": False,
}
copyright = f"{author}. Version {version}. This site loads nothing from elsewhere"
copybutton_exclude = ".linenos, .gp, .go"
copybutton_selector = "div:not(.output) > div.highlight > pre"
