"""How Sphinx makes the book. `docs/build.py` assembles its pages first; `make docs` does both."""

import re
from pathlib import Path

from elephan import _core

project = "elephan"
author = "the elephan authors"
copyright = "the elephan authors; Apache-2.0"
version = release = _core.version()

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["examples", "_static"]
nitpicky = True
# Classes of other libraries have no page here, nor have those of elephan that a caller never names.
nitpick_ignore_regex = [(r"py:.*", r"(?!elephan\.(run|sweep|compare|path|analyze|load|query)$).*")]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# Docstrings are plain text with `code` between single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries = False

html_theme = "furo"
html_title = f"elephan {release}"
html_static_path = ["_static"]
html_favicon = "_static/icon.svg"
html_css_files = ["book.css"]
html_js_files = ["live.js"]
html_show_sphinx = False
html_copy_source = False
html_search_scorer = str(Path(__file__).parent / "scorer.js")
html_show_search_summary = False  # it would fetch pages, which a browser refuses for file://
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

man_pages = [("reference/commands", "elephan", "a laboratory for the performance of TCP", author, 1)]
man_show_urls = True


def _as_text(app: object, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Makes reStructuredText of a docstring: an indented block is code, and a bar or a star between words is itself."""
    found: list[str] = []
    for line in lines:
        if line.startswith("    ") and found and not found[-1]:
            block = next((one for one in reversed(found) if one), "")
            if not block.startswith(("    ", ">>>")):
                found += [".. code-block:: python", ""]
        quoted = line.lstrip().startswith((">>>", "...")) or line.startswith("    ")
        found.append(
            line
            if quoted
            else "`".join(part if n % 2 else part.replace("|", "\\|").replace("*", "\\*") for n, part in enumerate(line.split("`")))
        )
    lines[:] = found


def with_rows(html: str) -> str:
    """Returns a page in which those lines of an output are marked that have columns, with two or more spaces between them."""
    return re.sub(r'<span class="go">(?=[^<]*\S {2,}\S[^<]*</span>)', '<span class="go row">', html)


def _mark_rows(app: object, page: str, template: str, context: dict[str, str], tree: object) -> None:
    if "body" in context:
        context["body"] = with_rows(context["body"])


def setup(app: object) -> None:
    app.connect("autodoc-process-docstring", _as_text)
    app.connect("html-page-context", _mark_rows)
