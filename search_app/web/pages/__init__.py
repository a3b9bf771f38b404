"""The pages, one blueprint for each noun: read the request, make one call, render.

A new page needs a file here, a folder in `templates/`, and a line in `web/__init__.py` (`_PAGES`)
and `web/layout.py` (`_PAGES`). Two tests name every page: `test_authorization.py` and
`test_every_page.py` in `tests/search_app/web/site/`.
"""
