"""Entries of the ledger."""


def post_entry(account: str, cents: int, key: str) -> dict[str, object]:
    """Append one entry, once for each key."""
    return {"account": account, "cents": cents, "key": key}


def reverse_entry(entry: dict[str, object]) -> dict[str, object]:
    """Append the opposite of an entry."""
    return post_entry(str(entry["account"]), -int(str(entry["cents"])), f"reverse-{entry['key']}")
