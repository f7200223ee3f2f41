"""``memory``: the list, and the text of a fact."""

from support.fleet.builder import FleetBuilder
from support.process.cli_call import call


def test_the_text_of_a_fact_is_shown(fleet: FleetBuilder) -> None:
    shop = fleet.project("shop")
    shop.fact("limits", "The limit is 40.\n\n\x1b[31mred", title="Rate limits")
    fleet.project("bank").fact("limits", "The limit is 2.", title="Rate limits")
    listed = call("memory", "--project", "shop", "--root", fleet.root).text.splitlines()
    project, _, title, _, source = listed[0].split("\t")

    one = call("memory", "--show", f"{project}:{source}", "--root", fleet.root)
    both = call("memory", "--show", title.upper(), "--root", fleet.root)
    narrowed = call("memory", "--show", "limits.md", "--project", "bank", "--root", fleet.root)
    document = call("memory", "--show", title, "--json", "--root", fleet.root).data

    assert one.code == 0
    assert one.text.startswith(f"{project}:.agents/memory/limits.md:1\n\n---\nname: Rate limits\n")
    assert one.text.endswith("The limit is 40.\n\n<U+001B>[31mred\n")
    assert "The limit is 2." in both.text
    assert "The limit is 40." in both.text
    assert "The limit is 40." not in narrowed.text
    assert document["total"] == 2
    assert "The limit is 40." in document["facts"][1]["text"]


def test_an_unknown_fact_lists_near_ones(fleet: FleetBuilder) -> None:
    fleet.project("shop").fact("limits", "40", title="Rate limits")

    finished = call("memory", "--show", "Rate limit", "--json", "--root", fleet.root)

    assert finished.code == 1
    assert finished.document["error"]["code"] == "FACT_UNKNOWN"
    assert "Rate limits" in finished.document["error"]["hint"]


def test_show_and_differences_exclude_each_other(fleet: FleetBuilder) -> None:
    assert call("memory", "--show", "x", "--differences", "--root", fleet.root).code == 64
