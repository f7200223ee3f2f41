"""The root of a request: how the person named it, where it really is, that it stays so."""

from dataclasses import dataclass
from pathlib import Path

from agentic_os.aios.folder.faults import FOLDER_MISSING, SOURCE_CHANGED, UNSAFE_PATH, fault
from agentic_os.aios.folder.layer import FileLayer, Stamp
from agentic_os.files.reading import Folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """How the root was found: as configured, where it really is, and its stamps."""

    configured: Path
    configured_stamp: Stamp
    real: Path
    stamp: Stamp

    def recheck(self, files: FileLayer) -> None:
        """Observe the root once more.

        Raises:
            AiosError: DOTAIOS_CONTEXT_SOURCE_CHANGED.
        """
        configured = files.look_at(self.configured)
        if configured is None or not configured.same_object(self.configured_stamp):
            raise fault(SOURCE_CHANGED)
        if self.configured_stamp.is_link and files.real_path(self.configured) != self.real:
            raise fault(SOURCE_CHANGED)
        real = files.look_at(self.real)
        if real is None or not real.same_object(self.stamp):
            raise fault(SOURCE_CHANGED)


def open_root(path: Path, files: FileLayer) -> tuple[Root, Folder]:
    """Open the root folder; it may itself be one link to a folder.

    Raises:
        AiosError: DOTAIOS_FOLDER_MISSING, or a read fault.
    """
    configured = files.look_at(path)
    if configured is None:
        raise fault(FOLDER_MISSING)
    if configured.is_link:
        target = files.look_at(files.link_target(path))
        if target is None or not target.is_folder:
            raise fault(UNSAFE_PATH)
    elif not configured.is_folder:
        raise fault(FOLDER_MISSING)
    real = files.real_path(path)
    folder = files.open_root(real)
    try:
        stamp = files.stamp_folder(folder)
        root = Root(configured=path, configured_stamp=configured, real=real, stamp=stamp)
        root.recheck(files)
    except BaseException:
        folder.close()
        raise
    return root, folder
