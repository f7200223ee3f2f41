import pytest

from agentic_os.aios.folder.allowance import Allowance, Amount, Charges
from agentic_os.aios.folder.json_text import JsonObject
from agentic_os.aios.folder.layer import FileLayer
from agentic_os.aios.folder.reader import FolderReader
from agentic_os.aios.projects.attribution import in_projection, in_search
from agentic_os.aios.projects.catalog import (
    PROJECTS_FOLDER_ENTRIES,
    README_BYTES,
    read_catalog,
    read_identities,
    read_selected,
)
from agentic_os.aios.projects.selection import check_selector, resolve_identity
from agentic_os.aios.projects.values import (
    EXCERPT_CHARS,
    ProjectIdentity,
    ProjectRecord,
    ProjectScope,
    bare_record,
    clean_selector,
    safe_remote,
    select_project,
)
from agentic_os.errors import AiosError
from agentic_os.text.budget import utf16_length
from support.aios.builder import AiosBuilder, CountingLayer, MeddlingLayer

INVALID = "DOTAIOS_PROJECT_CATALOG_INVALID"


def charges() -> Charges:
    return Charges(Allowance(Amount(bytes=2**30, files=1000, entries=10_000)))


def catalog(aios: AiosBuilder) -> tuple[ProjectRecord, ...]:
    with FolderReader(aios.root, files=FileLayer()) as reader:
        return read_catalog(reader, charges())


def selected(
    aios: AiosBuilder, selector: str, files: FileLayer | None = None
) -> tuple[ProjectScope, ProjectRecord]:
    with FolderReader(aios.root, files=files or FileLayer()) as reader:
        return read_selected(reader, charges(), selector)


def identity(aios: AiosBuilder, selector: str | None) -> str:
    with FolderReader(aios.root, files=FileLayer()) as reader:
        return resolve_identity(reader, charges(), selector).id


def code_of(call: object, *arguments: object) -> str:
    assert callable(call)
    with pytest.raises(AiosError) as caught:
        call(*arguments)
    return caught.value.code


def test_a_record_takes_its_fields(full: AiosBuilder) -> None:
    alpha, beta = catalog(full)
    assert alpha.identity == ProjectIdentity(slug="alpha", alias="alpha", id="A1")
    assert (alpha.name, alpha.status, alpha.domains) == ("Alpha", "active", ("build", "make"))
    assert alpha.description == "The first project."
    assert alpha.repo_url == "git@github.com:o/alpha.git"
    assert alpha.excerpt == "The release policy: two reviews.\n\nThen ship."
    assert alpha.source == "projects/alpha/README.md"
    assert beta.identity == ProjectIdentity(slug="beta", alias="apex", id="B2")
    assert (beta.name, beta.status, beta.description) == ("Beta", "paused", "Notes.")


def test_what_stands_in_for_missing_fields(aios: AiosBuilder) -> None:
    aios.write("projects/plain/README.md", "<!-- x -->\n- item\n\nFirst prose.\n## Later\n")
    aios.write("projects/empty/README.md", "")
    aios.project("listed", "\n# From the body\n", domain="build, sell,", repo="https://h/o/r.git")
    empty, listed, plain = catalog(aios)
    assert (plain.name, plain.status, plain.description) == ("plain", "unknown", "First prose.")
    assert (empty.name, empty.description, empty.excerpt) == ("empty", "", "")
    assert (listed.name, listed.domains) == ("From the body", ("build", "sell"))
    assert listed.repo_url == "https://h/o/r.git"
    assert bare_record("x").identity.names == {"x"}


@pytest.mark.parametrize("length", [EXCERPT_CHARS, EXCERPT_CHARS + 1])
def test_excerpts_never_split_a_pair(aios: AiosBuilder, length: int) -> None:
    body = "a" + "😀" * (length // 2) if length % 2 else "😀" * (length // 2)
    aios.write("projects/p/README.md", f"# T\n\n{body}\n")
    (record,) = catalog(aios)
    assert record.excerpt_clipped == (length > EXCERPT_CHARS)
    assert utf16_length(record.excerpt) <= EXCERPT_CHARS
    assert record.excerpt.rstrip("…").strip("a😀") == ""


def test_crlf_readmes_read_alike(aios: AiosBuilder) -> None:
    aios.write("projects/p/README.md", "---\r\nid: P\r\n---\r\n# T\r\n\r\nOne.\r\nTwo.\r\n")
    (record,) = catalog(aios)
    assert (record.identity.id, record.excerpt) == ("P", "One.\nTwo.")


def test_folders_that_are_no_projects(aios: AiosBuilder) -> None:
    aios.write("projects/notes.md", "x")
    (aios.root / "projects/empty").mkdir()
    (aios.root / "projects/.obsidian").mkdir()
    assert catalog(aios) == ()


def test_what_makes_a_catalog_invalid(aios: AiosBuilder) -> None:
    aios.project("one", id="X")
    two = aios.project("two", project_id="X")
    assert code_of(catalog, aios) == INVALID
    two.write_text("---\nid: X\nproject_id: Y\n---\n")
    assert code_of(catalog, aios) == INVALID
    two.write_text("---\nid: Y\nproject_id: Y\n---\n")
    assert [record.identity.id for record in catalog(aios)] == ["X", "Y"]
    (aios.root / "projects/My Project").mkdir()
    assert code_of(catalog, aios) == INVALID


def test_linked_projects_and_readmes_fail_closed(aios: AiosBuilder) -> None:
    aios.project("one", id="X")
    (aios.root / "projects/two").symlink_to(aios.root / "projects/one")
    assert code_of(catalog, aios) == "DOTAIOS_UNSAFE_READ_PATH"
    (aios.root / "projects/two").unlink()
    (aios.root / "projects/two").mkdir()
    (aios.root / "projects/two/README.md").symlink_to(aios.root / "projects/one/README.md")
    assert code_of(catalog, aios) == "DOTAIOS_UNSAFE_READ_PATH"


def test_the_number_of_projects_is_bounded(aios: AiosBuilder) -> None:
    for number in range(PROJECTS_FOLDER_ENTRIES):
        aios.write(f"projects/p{number}/README.md", "x")
    assert len(catalog(aios)) == PROJECTS_FOLDER_ENTRIES
    aios.write("projects/one-more/README.md", "x")
    assert code_of(catalog, aios) == "DOTAIOS_PROJECT_DIRECTORY_LIMIT_EXCEEDED"


def test_a_selected_project_is_the_only_body_read(aios: AiosBuilder) -> None:
    aios.project("alpha", "# Alpha\n\nBody.\n", id="A1", project="apex")
    aios.project("beta", "x" * (2 * README_BYTES), id="B2", project="apex")
    layer = CountingLayer()
    scope, record = selected(aios, "A1", layer)
    assert record.excerpt == "Body."
    assert scope.id == "A1"
    assert scope.unique_names == {"alpha", "A1"}
    assert layer.opened == ["README.md"] * 3
    assert code_of(selected, aios, "beta") == "DOTAIOS_CONTEXT_SOURCE_TOO_LARGE"


def test_a_selected_readme_may_be_exactly_its_limit(aios: AiosBuilder) -> None:
    path = aios.project("alpha", "", id="A1")
    start = path.read_bytes()
    path.write_bytes(start + b"x" * (README_BYTES - len(start)))
    assert selected(aios, "A1")[1].excerpt_clipped
    path.write_bytes(start + b"x" * (README_BYTES - len(start) + 1))
    assert code_of(selected, aios, "A1") == "DOTAIOS_CONTEXT_SOURCE_TOO_LARGE"


def test_selection_by_any_unique_name(aios: AiosBuilder) -> None:
    aios.project("alpha", id="A1", project="apex")
    aios.project("beta", id="B2", project="apex")
    assert selected(aios, "alpha")[0].identity.slug == "alpha"
    assert code_of(selected, aios, "apex") == "DOTAIOS_AMBIGUOUS_PROJECT"
    assert code_of(selected, aios, "gamma") == "DOTAIOS_PROJECT_SELECTOR_UNKNOWN"
    with FolderReader(aios.root, files=FileLayer()) as reader:
        assert [known.slug for known in read_identities(reader, charges())] == ["alpha", "beta"]


def test_a_front_matter_that_does_not_close_fails_closed(aios: AiosBuilder) -> None:
    aios.project("alpha", id="A1")
    aios.write("projects/open/README.md", "---\nid: X\n" + "a" * 20_000 + "\n---\n")
    assert code_of(catalog, aios) == "DOTAIOS_FRONTMATTER_INVALID"
    assert code_of(selected, aios, "A1") == "DOTAIOS_FRONTMATTER_INVALID"


def test_duplicate_ids_share_a_scope_without_id() -> None:
    twins = [ProjectIdentity(slug=slug, alias=slug, id="X") for slug in ("one", "two")]
    assert select_project("one", twins).id is None


SCOPE = select_project(
    "A1",
    [
        ProjectIdentity(slug="alpha", alias="apex", id="A1"),
        ProjectIdentity(slug="beta", alias="apex", id="B2"),
    ],
)


@pytest.mark.parametrize(
    ("row", "brief", "search"),
    [
        ({"project": "alpha"}, True, True),
        ({"project_id": "A1"}, True, True),
        ({"project": "apex"}, False, False),
        ({"project": "apex", "project_id": "A1"}, True, False),
        ({"project": "alpha", "project_id": "B2"}, False, False),
        ({}, False, False),
        ({"project": " alpha"}, False, False),
        ({"project": 7}, False, False),
        ({"project": ["alpha"]}, False, False),
        ({"project": "", "project_id": "A1"}, False, False),
        ({"project": None, "project_id": "A1"}, True, False),
        ({"project": "alpha", "project_id": None}, True, False),
        ({"project": "A1"}, True, True),
        ({"project_id": "alpha"}, False, False),
        ({"project": "beta"}, False, False),
    ],
)
def test_attribution(row: JsonObject, brief: bool, search: bool) -> None:
    assert in_projection(row, SCOPE) is brief
    assert in_search(row, slug="alpha", project_id="A1") is search


@pytest.mark.parametrize("selector", ["", "  ", "a\tb", "x" * 201, "\x85"])
def test_selectors_of_the_projection(selector: str) -> None:
    assert code_of(clean_selector, selector) == "DOTAIOS_ARGUMENT_INVALID"
    assert clean_selector(" alpha ") == "alpha"


@pytest.mark.parametrize("selector", [None, "", "a b", "a/b", "a\\b", "x" * 201, "a\x00"])
def test_selectors_of_search(selector: str | None) -> None:
    assert code_of(check_selector, selector) == "DOTAIOS_PROJECT_SELECTOR_INVALID"
    assert check_selector("A-1.x") == "A-1.x"


def test_identity_by_slug_or_id_never_by_alias(full: AiosBuilder) -> None:
    assert identity(full, "alpha") == identity(full, "A1") == "A1"
    assert identity(full, "beta") == "B2"
    assert code_of(identity, full, "apex") == "DOTAIOS_PROJECT_SELECTOR_UNKNOWN"
    full.project("gamma", id="alpha")
    assert code_of(identity, full, "alpha") == "DOTAIOS_PROJECT_SELECTOR_AMBIGUOUS"


def test_siblings_that_cannot_be_told_are_passed_over(full: AiosBuilder) -> None:
    full.write("projects/large/README.md", "x" * (README_BYTES + 1))
    full.write("projects/broken/README.md", "---\nid: [\n---\n")
    full.write("projects/bytes/README.md", b"---\nid: \xff\n---\n")
    full.project("number", id=5)
    full.project("two", id="X", project_id="Y")
    full.project("spaced", id="a b")
    (full.root / "projects/bare").mkdir()
    (full.root / "projects/Not A Slug").mkdir()
    (full.root / "projects/linked").symlink_to(full.root)
    (full.root / "projects/pointing").mkdir()
    (full.root / "projects/pointing/README.md").symlink_to(full.root / "aios.json")
    assert identity(full, "A1") == "A1"


@pytest.mark.parametrize(
    "readme",
    ["# No front matter\n", "---\nid: [\n---\n", "---\nname: x\n---\n", "---\nid: 5\n---\n"],
)
def test_a_project_that_is_named_is_read_strictly(aios: AiosBuilder, readme: str) -> None:
    aios.write("projects/alpha/README.md", readme)
    assert code_of(identity, aios, "alpha") == INVALID


def test_a_named_folder_without_a_readme_is_unknown(aios: AiosBuilder) -> None:
    (aios.root / "projects/alpha").mkdir(parents=True)
    assert code_of(identity, aios, "alpha") == "DOTAIOS_PROJECT_SELECTOR_UNKNOWN"


@pytest.mark.parametrize(
    ("remote", "safe"),
    [
        ("https://github.com/o/r.git", True),
        ("git@github.com:o/r.git", True),
        ("ssh://git@host/o/r", True),
        ("https://user:pw@host/o/r", False),
        ("https://token@host/o/r", False),
        ("/home/u/r", False),
        ("file:///home/u/r", False),
        ("ext::sh -c x", False),
        ("-oProxyCommand=x", False),
        ("https://ho st/o", False),
        ("https://[::1", False),
        ("https://[x]/o/r", False),
        ("https://host:port/o", False),
        ("", False),
        (None, False),
    ],
)
def test_remotes_that_may_be_named(remote: str | None, safe: bool) -> None:
    assert safe_remote(remote) == (remote if safe else None)


def test_a_sibling_that_changes_while_it_is_read_is_no_sibling_to_pass_over(
    full: AiosBuilder,
) -> None:
    change = (full.root / "projects/beta/README.md").unlink
    layer = MeddlingLayer(("open_file", "README.md"), change, before=True, skip=1)
    with FolderReader(full.root, files=layer) as reader:
        code = code_of(resolve_identity, reader, charges(), "alpha")
    assert code == "DOTAIOS_CONTEXT_SOURCE_CHANGED"


def test_projects_without_a_readme_have_no_identity(full: AiosBuilder) -> None:
    (full.root / "projects/bare").mkdir()
    assert selected(full, "A1")[0].identity.slug == "alpha"
