"""The counting page: a person goes through the candidate minutes and counts who entered and who left.

`minutes` lists the minutes to count, `counts` reads and writes ``counts.json`` in the events folder, `walk`
applies the actions of the page, `lock` prevents two programs from counting the same folder, and `server` is
the web application, for this machine only. ``static/`` has the files of the page; styles and scripts that it
shares with the live page are in `occupair.web`.
"""
