"""The skills that come with the program: their texts, and bringing a folder's copies up to date.

Only a text that this program shipped is replaced; whatever a person changed stays as it is.
"""

from importlib.resources import files
from typing import Final

from agentic_os.aios.folder.access import AiosAccess
from agentic_os.aios.folder.tree import SKILLS
from agentic_os.aios.intent.skill_ranking import SKILL_FILE
from agentic_os.aios.policy import MemoryPolicy
from agentic_os.aios.skills.catalogue import catalogue_targets
from agentic_os.aios.writing.opening import journal_of, open_for_writing
from agentic_os.aios.writing.plan import ChangeData, Plan, Proof, Target, carry_out, sha256

NAMES: Final = ("closeday", "research", "today")
EARLIER: Final[frozenset[str]] = frozenset()
"""SHA-256 of every text that an earlier version shipped."""


def shipped_text(name: str) -> bytes:
    """Return the text of a bundled skill."""
    return files("agentic_os.aios.skills").joinpath("texts", f"{name}.md").read_bytes()


def skill_path(folder: str) -> str:
    """Return where a skill of the folder lies."""
    return f"{SKILLS}/{folder}/{SKILL_FILE}"


def update_skills(access: AiosAccess, policy: MemoryPolicy, proof: Proof | None) -> ChangeData:
    """Preview or apply the newest bundled texts, and the catalogue files made from all skills.

    Raises:
        AiosError: DOTAIOS_PLAN_STALE; a read or write fault.
    """
    with open_for_writing(access, policy) as writer:
        targets: list[Target] = []
        kept: list[str] = []
        texts: dict[str, bytes] = {}
        for name in NAMES:
            path, text = skill_path(name), shipped_text(name)
            seen = writer.see(path)
            ours = not seen.exists or seen.data == text or sha256(seen.data) in EARLIER
            if not ours:
                kept.append(f"kept as the person left it: {path}")
            texts[name] = text if ours else seen.data
            targets.append(Target(path=path, before=seen, after=texts[name]))
        targets += catalogue_targets(writer, texts)
        plan = Plan(operation="skills-update", targets=tuple(targets))
        return carry_out(writer, plan, proof, journal_of(writer, access), notes=tuple(kept))
