from pathlib import Path

import pytest

from agentic_os.files.git.personal import personal_excludes


def test_the_default_lies_in_the_configuration_home(tmp_path: Path) -> None:
    assert personal_excludes(tmp_path, {}) == ""
    for folder, text in ((tmp_path / ".config/git", "a\n"), (tmp_path / "other/git", "b\n")):
        folder.mkdir(parents=True)
        (folder / "ignore").write_text(text)

    assert personal_excludes(tmp_path, {}) == "a\n"
    assert personal_excludes(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "other")}) == "b\n"


@pytest.mark.parametrize("named", ["~/mine", "mine"])
def test_the_configuration_names_another_file(tmp_path: Path, named: str) -> None:
    (tmp_path / ".config/git").mkdir(parents=True)
    (tmp_path / ".config/git/ignore").write_text("default")
    (tmp_path / ".config/git/config").write_text("[core]\n\texcludesFile = ~/nowhere\n")
    (tmp_path / ".gitconfig").write_text(f"[core]\n\texcludesfile = {named}\n")
    (tmp_path / "mine").write_text("*.private.md\n")

    assert personal_excludes(tmp_path, {}) == "*.private.md\n"


def test_a_file_that_cannot_be_read_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text("[core]\n\texcludesfile = ~/folder\n")
    (tmp_path / "folder").mkdir()

    assert personal_excludes(tmp_path, {}) == ""
