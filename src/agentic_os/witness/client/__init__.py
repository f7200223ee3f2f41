"""The witness's client: submits checkpoints and bookmarks, judges answers, keeps receipts."""
