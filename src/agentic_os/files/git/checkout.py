"""What a checkout is and where it stands, read from ``.git`` without running git.

git is never run inside a project, because its configuration can start programs (design
section 6). Read here, bounded and without following links: the ``.git`` file or folder,
``commondir``, ``HEAD``, loose and packed refs, and the remotes of ``config``. Includes,
``insteadOf`` and worktree configuration are not applied; a reftable repository gives its
kind and remote, not its branch.

Whatever is broken becomes ``None``: ``read_checkout`` raises nothing. A ``.git`` file is
believed only where the repository that it names points back. Branch, commit and remote
remain claims of the project, not facts.
"""

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agentic_os.errors import FilesError
from agentic_os.files.git.config import GitConfig, parse_git_config
from agentic_os.files.reading import Folder
from agentic_os.text.decoding import decode

CheckoutKind = Literal["main", "worktree", "submodule"]

MAX_POINTER_BYTES = 8 * 1024
"""Bytes of a ``.git`` file, of ``commondir``, of ``HEAD`` and of a loose ref."""
MAX_CONFIG_BYTES = 1024 * 1024
MAX_PACKED_REFS_BYTES = 64 * 1024 * 1024
MAX_REMOTE_CHARS = 2048

_MAX_SYMBOLIC_STEPS = 5  # as git's own limit on refs that name refs
_BRANCHES = "refs/heads/"
_OWN_REFS = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")  # not shared by worktrees
_COMMIT = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_BAD_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|(?:\A|/)\.|\.lock(?:/|\Z)|[/.]\Z")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SCP = re.compile(r"(?:[^/@]*@)?(\[[^\]/]+\]|[^/:\[\]]{2,}):(?!:)(.*)\Z")
_UNFIT = re.compile(r"[\x00-\x20\x7f]")
_CASELESS_HOSTS = frozenset({"github.com", "gitlab.com", "bitbucket.org"})
_AZURE = "dev.azure.com"
_ALIASES = {
    "www.github.com": "github.com",
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}
_LOCAL_DIGEST_CHARS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class GitCheckout:
    """A working copy: its kind, its folders, and where it stands.

    Attributes:
        kind: ``submodule`` when the repository lies in another's ``modules``;
            ``worktree`` for a linked worktree; otherwise ``main``.
        git_dir: the folder with this checkout's HEAD.
        common_dir: the folder with refs and config, shared by worktrees.
        branch: the branch that HEAD names, also one without commits; ``None`` if detached.
        commit: the hex id of the commit that is checked out.
        default_branch: the branch that HEAD of the repository names which a worktree belongs to.
        remote: the address of ``origin``, else of the only remote, as written. It may
            hold a password: show ``normalise_remote`` of it.
    """

    kind: CheckoutKind
    git_dir: Path
    common_dir: Path
    branch: str | None = None
    commit: str | None = None
    default_branch: str | None = None
    remote: str | None = field(default=None, repr=False)


def read_checkout(folder: Path) -> GitCheckout | None:
    """Read the checkout whose top is ``folder``; ``None`` when it holds no ``.git``."""
    own = folder / ".git"
    try:
        top = Folder.open(folder)
    except FilesError:
        return None
    with top:
        try:
            git_dir = _pointed_to(top, folder)
        except FilesError as fault:
            if fault.code == "FILE_MISSING":
                return None
            if fault.code != "NOT_REGULAR":  # a folder is the usual case, the rest is broken
                return GitCheckout(kind="main", git_dir=own, common_dir=own)
            git_dir = own
    by_file = git_dir != own
    common_dir = _common_dir(git_dir) if by_file else None
    config = _config(common_dir or git_dir)
    if by_file and not _points_back(folder, git_dir, common_dir, config):
        return GitCheckout(kind="main", git_dir=own, common_dir=own)
    kind: CheckoutKind = "main"
    if common_dir is not None:
        kind = "worktree"
    elif by_file and _in_modules(git_dir):
        kind = "submodule"
    branch, commit = _head(git_dir, common_dir or git_dir)
    return GitCheckout(
        kind=kind,
        git_dir=git_dir,
        common_dir=common_dir or git_dir,
        branch=branch,
        commit=commit,
        default_branch=_head(common_dir, common_dir)[0] if common_dir else None,
        remote=config.remote(),
    )


def normalise_remote(url: str) -> str | None:
    """Reduce a remote's address to ``host/path``, equal for every way of writing it.

    Scheme, user, password, port, query, ``.git``, doubled and trailing slashes and the
    scp form are dropped; the host is lower-cased, and so is the path on GitHub, GitLab
    and Bitbucket, which ignore its case. A repository on this machine, by absolute path
    or ``file`` address, becomes ``localhost/<digest>/<name>``: equal for its clones,
    without the path. Relative paths, remote helpers and what is no address give ``None``.
    """
    url = url.strip()
    if not url or len(url) > MAX_REMOTE_CHARS or _UNFIT.search(url):
        return None
    if scheme := _SCHEME.match(url):
        authority, _, path = url[scheme.end() :].partition("/")
        host = _host(authority)
        if scheme.group(1).lower() == "file" and host in {"", "localhost"}:
            return _local("/" + path)
        path = re.split(r"[?#]", path, maxsplit=1)[0]
    elif url.startswith("/"):
        return _local(url)
    elif scp := _SCP.match(url):
        host, path = _host(scp.group(1)), scp.group(2)
    else:
        return None
    parts = _parts(path)
    if not host or not parts:
        return None
    host = _named_host(host)
    joined = "/".join(parts)
    plain = f"{host}/{joined.lower() if host in _CASELESS_HOSTS else joined}"
    return _azure(host, parts) or plain


def _named_host(host: str) -> str:
    """Return the public name of a host.

    Their other doors (``ssh.github.com`` on port 443) have names of their own, and who has two
    accounts gives one a suffix in the configuration of ssh: ``github.com-work``.
    """
    host = _ALIASES.get(host, host)
    stem = next((name for name in _CASELESS_HOSTS if host.startswith(f"{name}-")), host)
    return _ALIASES.get(stem, stem)


def _azure(host: str, parts: list[str]) -> str | None:
    """Return the one form of an Azure DevOps repository, which has five addresses."""
    organisation = host.removesuffix(".visualstudio.com")
    if host in {"ssh.dev.azure.com", "vs-ssh.visualstudio.com"} and parts[0].lower() == "v3":
        names = parts[1:]
    elif host == _AZURE:
        names = parts
    elif organisation != host:
        names = [organisation, *(part for part in parts if part.lower() != "defaultcollection")]
    else:
        return None
    if "_git" in names[1:]:
        at = names.index("_git")
        # Without a project's name the project is called as the repository is.
        names = [*names[:at], *names[at + 1 :]] if at > 1 else [names[0], *names[at + 1 :] * 2]
    return f"{_AZURE}/{'/'.join(names).lower()}"


def _host(authority: str) -> str:
    """Return the host of ``user:password@host:port``, lower-cased."""
    host = authority.rpartition("@")[2]
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].rstrip(".").lower()


def _parts(path: str) -> list[str]:
    """Return the components of a repository's path; ``None`` if it is not plain."""
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if parts and parts[-1] == ".git":
        parts.pop()
    if not parts or ".." in parts:
        return []
    return [*parts[:-1], parts[-1].removesuffix(".git")]


def _local(path: str) -> str | None:
    parts = _parts(os.path.normpath(path))
    if not parts:
        return None
    digest = hashlib.sha256("/".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"localhost/{digest[:_LOCAL_DIGEST_CHARS]}/{parts[-1]}"


def _pointed_to(top: Folder, folder: Path) -> Path:
    """Return where a ``.git`` file points; ``.git`` itself when it is no such file."""
    data = top.read(".git", limit_bytes=MAX_POINTER_BYTES).data
    prefix, _, target = os.fsdecode(data).partition(":")
    target = target.strip(" ").rstrip("\r\n")
    if prefix != "gitdir" or not target or "\0" in target:
        return folder / ".git"
    return _joined(folder, target)


def _joined(base: Path, target: str) -> Path:
    return Path(os.path.normpath(base / target))


def _common_dir(git_dir: Path) -> Path | None:
    data = _small(git_dir, "commondir")
    target = os.fsdecode(data).rstrip("\r\n") if data else ""
    return _joined(git_dir, target) if target and "\0" not in target else None


def _points_back(folder: Path, git_dir: Path, common_dir: Path | None, config: GitConfig) -> bool:
    """Whether the repository that a ``.git`` file names knows of this checkout.

    Anybody can write a ``.git`` file that names somebody else's repository. git notes the
    way back for worktrees (``gitdir``) and submodules (``core.worktree``); a separate
    repository has none, but is never another checkout's own ``.git``.
    """
    if common_dir is not None:
        data = _small(git_dir, "gitdir")
        noted = os.fsdecode(data).rstrip("\r\n") if data else ""
        return bool(noted) and _same(_joined(git_dir, noted), folder / ".git")
    worktree = config.first("core", "worktree")
    if worktree is not None:
        return _same(_joined(git_dir, worktree), folder)
    return git_dir.name != ".git" and _small(git_dir, "HEAD") is not None


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.realpath(one) == os.path.realpath(other)
    except ValueError:  # a NUL character is no path
        return False


def _in_modules(git_dir: Path) -> bool:
    """Whether the folder lies in the ``modules`` of another repository."""
    return any(
        above.name == "modules" and _small(above.parent, "HEAD") is not None
        for above in git_dir.parents
    )


def _config(common_dir: Path) -> GitConfig:
    data = _bounded(common_dir, "config", MAX_CONFIG_BYTES)
    return parse_git_config(decode(data or b"").text)


def _head(git_dir: Path, common_dir: Path) -> tuple[str | None, str | None]:
    """Return the branch and the commit that HEAD leads to."""
    branch: str | None = None
    data = _small(git_dir, "HEAD")
    for step in range(_MAX_SYMBOLIC_STEPS):
        if data is None:
            return branch, None
        data = data.rstrip()
        if _COMMIT.match(data):
            return branch, data.decode("ascii")
        ref = os.fsdecode(data[4:].lstrip()) if data.startswith(b"ref:") else ""
        if not ref.startswith("refs/") or _BAD_REF.search(ref):
            return branch, None
        if step == 0 and ref.startswith(_BRANCHES):
            branch = decode(os.fsencode(ref.removeprefix(_BRANCHES))).text
        home = git_dir if ref.startswith(_OWN_REFS) else common_dir
        data = _small(home, ref) or _packed(common_dir, ref)
    return branch, None


def _packed(common_dir: Path, ref: str) -> bytes | None:
    """Find a ref in ``packed-refs``: lines of an id, a space and the name."""
    data = _bounded(common_dir, "packed-refs", MAX_PACKED_REFS_BYTES) or b""
    name = b" " + os.fsencode(ref)
    end = data.find(name + b"\n")
    if end < 0 and data.endswith(name):
        end = len(data) - len(name)
    line = data[data.rfind(b"\n", 0, max(end, 0)) + 1 : max(end, 0)]
    return line if _COMMIT.match(line) else None


def _small(folder: Path, relative: str) -> bytes | None:
    return _bounded(folder, relative, MAX_POINTER_BYTES)


def _bounded(folder: Path, relative: str, limit_bytes: int) -> bytes | None:
    """Read a file; ``None`` if it is missing, too large, a link or unreadable."""
    try:
        with Folder.open(folder) as opened:
            return opened.read(relative, limit_bytes=limit_bytes).data
    except FilesError:
        return None
