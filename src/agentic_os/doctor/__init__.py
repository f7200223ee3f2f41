"""Health checks of the fleet and of the identity: each with an id, a status and what to do."""

from agentic_os.doctor.fleet import examine
from agentic_os.doctor.identifiers import CHECKS, IDENTITY_CHECKS
from agentic_os.doctor.identity import OwnPlaces, examine_identity

__all__ = ["CHECKS", "IDENTITY_CHECKS", "OwnPlaces", "examine", "examine_identity"]
