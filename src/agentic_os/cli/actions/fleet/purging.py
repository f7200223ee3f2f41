"""Delete derived state and say what went."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from agentic_os.aggregate.purging import purge_spaces
from agentic_os.aggregate.store.space import SPACES_FOLDER
from agentic_os.aggregate.workspace import Person
from agentic_os.cli.output import finish_document, say, write
from agentic_os.files.places import Places, places_from
from agentic_os.results import Answer, PurgeData
from agentic_os.tiers.embed.prepare.package import DOWNLOADS
from agentic_os.tiers.embed.shelf import SHELF


def delete_derived(*, root: Sequence[str], everything: bool, json: bool) -> None:
    """Delete derived state. Everything in it is made anew from the projects, or fetched again."""
    person = Person.here()
    answer = purge_spaces(person, root, everything=everything)
    if everything:
        answer = _with_models(answer.data, places_from(person.environ))
    data = answer.data
    if json:
        finish_document("purge", answer)
        return
    for space in data.spaces:
        write(f"{space}\n")
    for name in data.folders:
        write(f"{name}\n")
    gone = "1 store" if len(data.spaces) == 1 else f"{len(data.spaces)} stores"
    gone += f" and {', '.join(data.folders)}" if data.folders else ""
    say(f"Deleted: {gone}; {data.bytes} bytes freed.")
    if everything:
        say("Settings, identity and the AIOS folder stay: `agentic-os paths` shows them.")


def _with_models(data: PurgeData, places: Places) -> Answer[PurgeData]:
    """Delete prepared models and what is left in the cache folder, too."""
    freed, folders = data.bytes, []
    for folder in (places.data / SHELF, places.cache / DOWNLOADS):
        if folder.is_dir() and not folder.is_symlink():
            freed += sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
            shutil.rmtree(folder)
            folders.append(folder.name)
    for left in (places.cache / SPACES_FOLDER, places.cache):
        _remove_empty(left)
    return Answer(data=PurgeData(spaces=data.spaces, bytes=freed, folders=tuple(folders)))


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()
