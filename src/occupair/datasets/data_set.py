"""Description of a public data set: name, citation, licence and files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RemoteFile:
    """One file of a data set.

    Parameters
    ----------
    name : str
        File name on disk.
    url : str
        Address of the file, of a zip that contains it, or of the articles of a figshare collection
        (``https://api.figshare.com/v2/collections/NUMBER/articles``) with such a zip.
    sha256 : str
        Checksum of the unpacked file [hexadecimal].
    """

    name: str
    url: str
    sha256: str


@dataclass(frozen=True)
class DataSet:
    """A public data set of rooms with CO2 readings and head counts.

    Parameters
    ----------
    name : str
        Short name, also that of its folder.
    title, citation, licence : str
        As published.
    page : str
        Web page with description and download.
    files : tuple of RemoteFile
        Files that the reader needs.
    """

    name: str
    title: str
    citation: str
    licence: str
    page: str
    files: tuple[RemoteFile, ...]
