"""Every diagnostic of this room: its code, how bad it is, what it means, what to do."""

from agentic_os.codes import CodeTable

CODES = CodeTable(
    (
        "FACT_MISSING",
        "warning",
        "MEMORY.md lists a fact that does not exist.",
        "Remove the line, or write the fact.",
    ),
    (
        "FACT_UNLISTED",
        "warning",
        "A fact exists that no line of MEMORY.md lists.",
        "Add a line for it.",
    ),
    (
        "MEMORY_FILE_NOT_READ",
        "info",
        "A file of the memory folder is no Markdown; nothing of it was read.",
        "Write what should be found into a Markdown file, or move the file elsewhere.",
    ),
    (
        "MEMORY_TOO_DEEP",
        "error",
        "The memory folder is nested deeper than it is walked.",
        "Move the facts up.",
    ),
    (
        "CAPABILITIES_FOREIGN",
        "info",
        "The inventory was written by hand; no rows were taken from it.",
        "It stays searchable as text.",
    ),
    (
        "CAPABILITIES_TOO_MANY",
        "warning",
        "The inventory has more rows than are read.",
    ),
    (
        "INVOCATIONS_INVALID",
        "warning",
        ".mcp.json is not of its form; no invocation was taken from it.",
    ),
    (
        "STATEMENTS_TOO_MANY",
        "warning",
        "A fact has more `key: value` lines than are compared between projects.",
        "Keep a fact under 100 lines; move tables and logs elsewhere.",
    ),
    (
        "TEXT_NOT_UTF8",
        "warning",
        "Some bytes are not UTF-8; they were replaced.",
        "Save the file as UTF-8.",
    ),
    (
        "FRONT_MATTER_UNCLOSED",
        "warning",
        "The front matter has no closing line; the whole text was taken as body.",
        "Close the block with --- on a line of its own.",
    ),
    (
        "FRONT_MATTER_NO_KEYS",
        "warning",
        "The front matter holds no `key: value` line.",
        "Write name, description and type.",
    ),
    (
        "FRONT_MATTER_LINE",
        "warning",
        "A line of the front matter is not `key: value`; it was read leniently.",
        "Quote the value.",
    ),
    (
        "FRONT_MATTER_SECOND",
        "warning",
        "A second block of front matter stands below the first; it was read, too.",
        "Join the two blocks.",
    ),
    (
        "FRONT_MATTER_DUPLICATE_KEY",
        "warning",
        "A key stands twice in the front matter; the last one counts.",
        "Remove one of them.",
    ),
    (
        "NAME_NOT_UTF8",
        "error",
        "A file's name is not UTF-8; the file was not read.",
        "Rename the file.",
    ),
    (
        "LINK_REFUSED",
        "error",
        "A file, or a folder on the way to it, is a link; it was not read.",
        "Put the file itself there; links are never followed.",
    ),
    (
        "NOT_REGULAR",
        "error",
        "A name that should be a file is a folder, a FIFO or a device.",
        "Only ordinary files are read.",
    ),
    (
        "NOT_A_FOLDER",
        "error",
        "A name that should be a folder is not one.",
    ),
    (
        "FILE_TOO_LARGE",
        "error",
        "A file is larger than its bound; it was not read.",
        "Split the file; long material belongs in the vault.",
    ),
    (
        "NAME_INVALID",
        "error",
        "A path cannot be a name on this machine: too long, or with a NUL in it.",
        "Correct the path in the project's descriptor.",
    ),
    (
        "OUTSIDE_ROOT",
        "error",
        "A path leads out of the project; it was not opened.",
        "Declare a relative path inside the project.",
    ),
    (
        "PLATFORM_UNSUPPORTED",
        "error",
        "This system cannot open files below a folder that it holds; nothing was read.",
        "Use Linux or macOS.",
    ),
    (
        "FILE_UNREADABLE",
        "error",
        "A file or folder exists and cannot be read.",
    ),
    (
        "FILE_CHANGED",
        "error",
        "A file changed twice while it was read.",
        "Ask again.",
    ),
    (
        "FILE_MISSING",
        "error",
        "A file or folder vanished while it was read.",
        "Ask again.",
    ),
    (
        "TOO_MANY_ENTRIES",
        "error",
        "A folder holds more names than are looked at.",
    ),
    (
        "VAULT_TOO_DEEP",
        "error",
        "A vault is nested deeper than it is walked.",
    ),
    (
        "HIT_CHANGED",
        "info",
        "A passage that matched is no longer in its file; it was dropped.",
    ),
    (
        "HIT_UNREADABLE",
        "info",
        "The file of a passage that matched can no longer be read.",
    ),
    (
        "NO_PROJECTS",
        "info",
        "No project was found below the roots.",
        "A project is a folder with .agents/config.yaml (or .claude/config.yaml).",
    ),
    (
        "PROJECT_AROUND",
        "info",
        "No roots are named or listed; the project around the current folder was asked.",
        "`agentic-os roots add DIR` lists a folder of projects, to ask all of them.",
    ),
    (
        "STORE_AWAITED",
        "info",
        "Another session was making the store; the question waited for it.",
    ),
    (
        "STORE_STALE",
        "warning",
        "The store could not be brought up to date; its last state was asked.",
        "Hits are current all the same: each is read again from its file.",
    ),
    (
        "GIT_INDEX_INVALID",
        "warning",
        "A project's git index cannot be read; its ignore rules alone decided.",
        "`git status` in the project shows whether git can.",
    ),
    (
        "GIT_INDEX_SPLIT",
        "warning",
        "A project's git index lies in two files; its ignore rules alone decided.",
        "`git update-index --no-split-index` joins it.",
    ),
    (
        "CORPUS_MISSING",
        "info",
        "No code or documents were taken in yet, so none can be found.",
        "Take them in: agentic-os index build.",
    ),
    (
        "SHORT_QUERY_BOUNDED",
        "info",
        "A run of one or two characters was looked for inside the words of 5,000 passages only.",
        "Ask for a word of three letters or more.",
    ),
)
