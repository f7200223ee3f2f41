import logging
import os

import pytest

from agentic_os.tiers.embed.noise import noise_aside, stay_offline


def test_prints_go_to_stderr_and_warnings_are_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    handlers = list(logging.getLogger().handlers)
    with noise_aside():
        print("noise")  # noqa: T201 - that is what is tested
        logging.warning("quiet")  # noqa: LOG015 - libraries do so
        logging.error("loud")  # noqa: LOG015 - libraries do so
    print("data")  # noqa: T201 - that is what is tested
    captured = capfd.readouterr()
    assert captured.out == "data\n"
    assert "noise" in captured.err
    assert "quiet" not in captured.err
    assert logging.getLogger().handlers == handlers
    assert logging.root.manager.disable == logging.NOTSET


def test_a_stricter_level_stays() -> None:
    logging.disable(logging.CRITICAL)
    try:
        with noise_aside():
            assert logging.root.manager.disable == logging.CRITICAL
        assert logging.root.manager.disable == logging.CRITICAL
    finally:
        logging.disable(logging.NOTSET)


def test_everything_is_put_back_after_a_failure() -> None:
    with pytest.raises(KeyError), noise_aside():
        raise KeyError
    assert logging.root.manager.disable == logging.NOTSET


def test_offline_is_the_default_and_not_a_law(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "HF_HUB_OFFLINE",
        "HF_HUB_DISABLE_TELEMETRY",
        "HF_HUB_DISABLE_PROGRESS_BARS",
        "TRANSFORMERS_VERBOSITY",
    ):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    stay_offline()
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert os.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    stay_offline()
    assert os.environ["HF_HUB_OFFLINE"] == "0"
