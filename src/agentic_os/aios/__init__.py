"""The AIOS folder: a person's context, read whole, bounded and fail-closed; written undoably.

One call answers one question; each takes how the folder is reached (``folder.access.AiosAccess``)
and the memory choice (``policy.resolve_policy``), and returns a frozen value that every adapter
renders: ``context.brief.read_brief``, ``context.lean.read_lean``, ``search.request.search_aios``,
``follow.request.follow_source``, ``intent.skills.resolve_skill``,
``intent.request.resolve_intent``. Verbs that change the folder plan in memory and let ``writing``
carry it out; nothing else here writes. Rules: docs/reference/aios.md, aios-writing.md.
"""
