import pytest

from agentic_os.files.fingerprints import SETTLE_NS, Fingerprint


@pytest.mark.parametrize(("written_ns", "changed_ns"), [(100, 50), (50, 100), (100, 100)])
def test_a_file_has_settled_when_its_newest_time_is_two_seconds_old(
    written_ns: int, changed_ns: int
) -> None:
    seen = Fingerprint(size=1, mtime_ns=written_ns, ctime_ns=changed_ns, inode=1)

    assert not seen.settled(100 + SETTLE_NS)
    assert seen.settled(101 + SETTLE_NS)
