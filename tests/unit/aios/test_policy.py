import pytest

from agentic_os.aios.policy import MODES, OFF_NOTICE, resolve_policy
from agentic_os.errors import AiosError


def test_modes_and_receipts() -> None:
    assert MODES == ("shared", "project", "off")
    assert resolve_policy().receipt == "Memory: Shared"
    assert resolve_policy(project="alpha").receipt == "Memory: This project"
    off = resolve_policy(mode="off")
    assert (off.receipt, off.notice) == ("Memory: Off", OFF_NOTICE)
    assert resolve_policy().notice is None


@pytest.mark.parametrize(
    ("mode", "project", "message", "expected"),
    [
        (None, None, None, "shared"),
        (None, "alpha", None, "project"),
        ("project", "alpha", None, "project"),
        ("shared", None, None, "shared"),
        ("project", "alpha", "Private chat please", "off"),
        (None, None, "  USE MY MEMORY", "shared"),
        (None, "alpha", "only this project, thanks", "project"),
        ("shared", "alpha", "only this project", "project"),
        (None, "alpha", "use my memory", "shared"),
        (None, None, "private chats are fun", "shared"),
        (None, None, "please: private chat", "shared"),
        (None, None, "", "shared"),
        ("off", "alpha", "use my memory", "off"),
        ("off", "", None, "off"),
    ],
)
def test_resolution_order(
    mode: str | None, project: str | None, message: str | None, expected: str
) -> None:
    policy = resolve_policy(mode=mode, project=project, first_message=message)
    assert policy.mode == expected
    assert (policy.selector is not None) == (expected == "project")


@pytest.mark.parametrize(
    ("mode", "project", "message"),
    [
        ("project", None, None),
        ("shared", "alpha", None),
        ("everything", None, None),
        (None, "", None),
        (None, "  ", None),
        (None, None, "only this project"),
    ],
)
def test_invalid_choices(mode: str | None, project: str | None, message: str | None) -> None:
    with pytest.raises(AiosError) as caught:
        resolve_policy(mode=mode, project=project, first_message=message)
    assert caught.value.code == "DOTAIOS_MEMORY_POLICY_INVALID"
    assert caught.value.exit_code == 64


def test_a_project_can_be_found_later() -> None:
    policy = resolve_policy(mode="project", deferred_project=True)
    assert (policy.mode, policy.selector) == ("project", None)
