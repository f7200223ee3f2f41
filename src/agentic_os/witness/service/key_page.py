"""The page at ``/`` that says who this witness is and how to trust it."""

from agentic_os.witness.service.keyring import WitnessKeys


def key_page(keys: WitnessKeys) -> bytes:
    """Write the page: plain text, a person reads it and a policy file takes its vkey."""
    origin = "<hex sha256 of the origin>"
    lines = (
        f"witness {keys.name}",
        "",
        "It remembers how far a log or ledger went and signs only what extends that. It holds",
        "hashes, keys, times and notes; it never receives an entry.",
        "",
        f"vkey (C2SP cosignature/v1, Ed25519)  {keys.cosigner.key.vkey}",
        f"receipt key (ML-DSA-87)              {keys.receipt_public.key_id}",
        f"receipt key envelope                 {keys.receipt_public.sha256}",
        "",
        "POST /add-checkpoint                 c2sp.org/tlog-witness",
        f"GET  /{origin}/checkpoint  the newest cosigned checkpoint",
        "POST /witness/bookmark               AII OS bookmarks, with our proof extension",
        "GET  /witness/pubkey, /witness/pubkey/hash, /witness/pubkey/manifest, /status",
        "GET  /genesis/pubkey                 the operator's root, which signs the manifest",
        "GET  /openapi.json, /healthz, /metrics",
        "",
        "Compare the vkey with one you got by another way before you trust it.",
    )
    return ("\n".join(lines) + "\n").encode()
