"""What a public data set is: its name, its makers, its licence, and the files the publisher gives out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RemoteFile:
    """One file of a data set.

    Parameters
    ----------
    name : str
        What the file is called on disk.
    url : str
        Where it is: the file itself, a zip that has it, or the articles of a figshare collection
        (``https://api.figshare.com/v2/collections/NUMBER/articles``) whose zip has it.
    sha256 : str
        Checksum of the file itself, unpacked [hexadecimal].
    """

    name: str
    url: str
    sha256: str


@dataclass(frozen=True)
class DataSet:
    """A public data set of rooms with CO2 and head counts.

    Parameters
    ----------
    name : str
        What we call it, and its folder.
    title, citation, licence : str
        As the publisher has them.
    page : str
        Where a person reads about it and downloads it.
    files : tuple of RemoteFile
        The files our reader needs.
    """

    name: str
    title: str
    citation: str
    licence: str
    page: str
    files: tuple[RemoteFile, ...]
