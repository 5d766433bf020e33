"""The counting page: a person walks through the candidate minutes and says who came and who went.

`minutes` has what there is to count, `counts` what is kept (``counts.json`` in the events folder), `walk`
what each key does to it, `lock` that one program does it at a time, and `server` the page's web application,
for this machine alone. ``static/`` are the page's own files; its look and small parts (``app.css``,
``dom.js``, ``api.js``, ``theme.js``) are those of the live service's page.
"""
