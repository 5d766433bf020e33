"""The counting page: a person goes through the candidate minutes and counts who entered and who left.

- `minutes`: the minutes to count
- `counts`: ``counts.json`` in the events folder, and the lock of the folder
- `session`: the actions of the page
- `server`: the web application, for this machine only

``static/`` has the files of the page; styles and scripts that it shares with the live page are in
`occupair.web`.
"""
