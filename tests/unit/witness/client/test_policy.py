import pytest

from agentic_os.crypto.keys.pairs import ED25519, SigningKey
from agentic_os.crypto.tlog.note_keys import NoteKind, NoteSigner
from agentic_os.errors import WitnessError
from agentic_os.witness.client.policy import POLICY_BYTES, POLICY_ENTRIES, parse_policy


def vkey(name: str, number: int, kind: NoteKind = "cosignature") -> str:
    seed = number.to_bytes(32, "big")
    return NoteSigner(kind=kind, name=name, private=SigningKey(ED25519, seed)).key.vkey


X1, X2, X3, Y1, Y2, Y3 = (vkey(f"w{n}.example", n) for n in range(6))
LOG = vkey("log.example", 100, "note")
EXAMPLE = f"""
# two operators
log {LOG} https://log.example/

witness X1 {X1}
witness X2 {X2} https://x2.example
witness X3 {X3}
group X-witnesses 2 X1 X2 X3

witness Y1 {Y1}
  witness\tY2 {Y2}
witness Y3 {Y3}
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
"""


def code_line(text: str) -> str:
    with pytest.raises(WitnessError) as caught:
        parse_policy(text.encode("utf-8", "surrogateescape"))
    assert caught.value.code == "POLICY_INVALID"
    return caught.value.message


@pytest.mark.parametrize(
    ("cosigners", "agrees"),
    [
        ((), False),
        ((X1, X2), False),
        ((X1, Y1), False),
        ((X1, X3, Y2), True),
        ((X1, X2, X3, Y1, Y2, Y3), True),
        ((Y1, Y2, Y3), False),
        (("unknown", X1, X2), False),
    ],
)
def test_the_example_of_the_specification(cosigners: tuple[str, ...], agrees: bool) -> None:
    assert parse_policy(EXAMPLE.encode()).is_satisfied(cosigners) is agrees


def test_every_part_is_read() -> None:
    policy = parse_policy(EXAMPLE.encode())

    assert [log.url for log in policy.logs] == ["https://log.example/"]
    assert [(item.name, item.url) for item in policy.witnesses][:2] == [
        ("X1", None),
        ("X2", "https://x2.example"),
    ]
    assert [(group.name, group.threshold) for group in policy.groups] == [
        ("X-witnesses", 2),
        ("Y-witnesses", 1),
        ("X-and-Y", 2),
    ]
    assert len(policy.witness_keys) == 6


def test_no_quorum_may_be_wanted_and_one_witness_may_be_the_quorum() -> None:
    assert parse_policy(b"quorum none").is_satisfied(())
    single = parse_policy(f"witness a {X1}\nquorum a\n".encode())
    assert single.is_satisfied({X1})
    assert not single.is_satisfied({X2})


def test_names_are_octets() -> None:
    data = b"witness \xff %s\nwitness \xfe %s\ngroup g all \xff \xfe\nquorum g\n" % (
        X1.encode(),
        X2.encode(),
    )

    assert parse_policy(data).is_satisfied({X1, X2})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no quorum"),
        ("quorum none\nquorum none", "line 2: a second"),
        ("quorum a", "not defined above"),
        (f"quorum a\nwitness a {X1}", "line 1"),
        ("witness a", "not a line"),
        (f"witness a {X1} u v", "not a line"),
        ("log", "not a line"),
        (f"log {LOG} u v", "not a line"),
        ("quorum", "not a line"),
        ("quorum a b", "not a line"),
        ("group a all", "not a line"),
        ("policy a", "not a line"),
        (f"witness none {X1}\nquorum none", "reserved"),
        (f"witness a {X1}\nwitness a {X2}\nquorum a", "twice"),
        (f"witness a {X1}\nwitness b {X1}\nquorum a", "twice"),
        (f"log {LOG}\nlog {LOG}\nquorum none", "twice"),
        (f"witness a {LOG}\nquorum a", "signature type"),
        (f"log {X1}\nquorum none", "signature type"),
        ("witness a b+c+d\nquorum a", "vkey"),
        (f"witness a {X1}\ngroup g 0 a\nquorum g", "threshold"),
        (f"witness a {X1}\ngroup g 2 a\nquorum g", "threshold"),
        (f"witness a {X1}\ngroup g 01 a\nquorum g", "threshold"),
        (f"witness a {X1}\ngroup g most a\nquorum g", "threshold"),
        (f"witness a {X1}\ngroup g all a a\nquorum g", "member"),
        (f"witness a {X1}\ngroup g all a\ngroup h all a\nquorum h", "member"),
        (f"witness a {X1}\ngroup g all b\nquorum g", "member"),
        (f"witness a {X1}\ngroup g all g\nquorum g", "member"),
        (f"witness a {X1}\ngroup a all a\nquorum a", "twice"),
        ("quorum none\r\n", "control"),
        ("quorum\x0bnone", "control"),
        ("# " + "x" * POLICY_BYTES, "large"),
    ],
)
def test_wrong_policies_are_refused_by_line(text: str, why: str) -> None:
    assert why in code_line(text)


def test_the_number_of_entries_is_bounded_well_above_what_the_format_asks() -> None:
    lines = [f"log {vkey(f'l{n}', n, 'note')}" for n in range(POLICY_ENTRIES + 1)]

    parse_policy("\n".join([*lines[:96], "quorum none"]).encode())
    assert "entries" in code_line("\n".join([*lines, "quorum none"]))


def test_the_message_carries_no_raw_octets() -> None:
    assert "\udcff" not in code_line("witness \udcff x+y+z")
