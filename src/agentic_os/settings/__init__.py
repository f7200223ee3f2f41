"""The person's side: ``projects.toml`` read and written, roots, pins, grants, allow-lists.

``projects.toml`` lies in the configuration folder, else at ``~/.agents/projects.toml``
(design decision 2)::

    roots = ["~/code", "../work"]      # folders that are walked
    exclude = ["archive", "old/*"]     # globs: a folder's name, or its path below the root

    [limits]
    depth = 8                          # levels of folders below a root
    folders = 50000                    # folders per root
    entries = 50000                    # entries of one folder
    graph_bytes = 536870912            # the largest code graph that is read
    engine_seconds = 20                # how long one granted engine may take

    [[project]]                        # a project by its own path
    path = "~/code/shop"
    id = "shop"                        # pinned; optional
    aliases = ["storefront"]

    [[grant]]                          # may this project's own engine be asked?
    project = "shop"
    endpoint = "http://127.0.0.1:8731" # void when the descriptor says anything else

    [redaction]
    allow = ["AKIAIOSFODNN7EXAMPLE"]   # strings that are no secrets

    [corpus]
    include = ["vendor/own"]           # folders of code to index, whatever they are called

    [synthesis]                        # the model of search --synthesize
    url = "http://127.0.0.1:11434/v1"  # OpenAI-compatible; or: command = ["llm", "-m", "x"]
    model = "qwen3"
    key_variable = "LLM_KEY"           # where the key is, if one is needed; never the key
    seconds = 120
"""
