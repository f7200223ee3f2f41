"""Health checks of the fleet: streamed, each with an id, a status and what to do."""

from agentic_os.doctor.fleet import examine
from agentic_os.doctor.identifiers import CHECKS

__all__ = ["CHECKS", "examine"]
