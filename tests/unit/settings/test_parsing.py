from pathlib import Path

import pytest

from agentic_os.errors import SettingsError
from agentic_os.settings.parsing import parse_settings
from agentic_os.settings.values import Grant, Limits, ListedProject, Root, Settings, Synthesis

FILE = Path("/settings/projects.toml")
HOME = Path("/people/ann")

FULL = """\
roots = ["~/code", "../work", "/srv/x/"]
exclude = ["archive", "old/*"]

[limits]
depth = 3
folders = 100
entries = 200

[[project]]
path = "~/code/shop"
id = "shop-1"
aliases = ["storefront", "Laden"]

[[project]]
path = "lone"

[[grant]]
project = "shop-1"
endpoint = "http://127.0.0.1:8731"

[redaction]
allow = ["AKIAIOSFODNN7EXAMPLE"]

[embedding]
model = "mine"
"""


def parse(text: str) -> Settings:
    return parse_settings(text, file=FILE, home=HOME)


def refusal(text: str) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        parse(text)
    return caught.value


def test_every_key_is_read() -> None:
    assert parse(FULL) == Settings(
        file=FILE,
        roots=(
            Root(typed="~/code", path=HOME / "code", origin="projects.toml"),
            Root(typed="../work", path=Path("/work"), origin="projects.toml"),
            Root(typed="/srv/x/", path=Path("/srv/x"), origin="projects.toml"),
        ),
        exclude=("archive", "old/*"),
        limits=Limits(depth=3, folders=100, entries=200),
        projects=(
            ListedProject(
                typed="~/code/shop",
                path=HOME / "code/shop",
                id="shop-1",
                aliases=("storefront", "Laden"),
            ),
            ListedProject(typed="lone", path=Path("/settings/lone")),
        ),
        grants=(Grant(project="shop-1", endpoint="http://127.0.0.1:8731"),),
        redaction_allow=frozenset({"AKIAIOSFODNN7EXAMPLE"}),
        embedding_model="mine",
    )


def test_an_empty_file_is_all_defaults() -> None:
    assert parse("") == Settings(file=FILE)
    assert parse("").limits == Limits(depth=8, folders=50_000, entries=50_000)


def test_a_grant_holds_for_one_exact_endpoint_of_one_project() -> None:
    settings = parse(FULL)
    assert settings.granted("shop-1", "http://127.0.0.1:8731")
    assert not settings.granted("shop-1", "http://127.0.0.1:8731/")
    assert not settings.granted("shop-2", "http://127.0.0.1:8731")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('# mine\nrots = ["a"]\n', 2, "'rots' is not a known key; did you mean 'roots'?"),
        (
            "roots = []\n\n[limits]\ndepth = 2\ndepht = 3\n",
            5,
            "'depht' in [limits] is not a known key; did you mean 'depth'?",
        ),
        (
            '[[project]]\npath = "a"\n[[project]]\npath = "b"\nalias = ["x"]\n',
            5,
            "'alias' in [project] is not a known key; did you mean 'aliases'?",
        ),
        ('[[projects]]\npath = "a"\n', 1, "'projects' is not a known key; did you mean 'project'?"),
        ("zzz = 1\n", 1, "'zzz' is not a known key"),
        ("[redaction]\nallowed = []\n", 2, "did you mean 'allow'?"),
        ('[embedding]\n\nmodle = "x"\n', 3, "'modle' in [embedding] is not a known key; did you"),
        ("limits = { dept = 3 }\n", 1, "'dept' in [limits] is not a known key"),
        ("limits.dept = 3\n", 1, "'dept' in [limits] is not a known key"),
        ('[[grant]]\nprojct = "x"\n', 2, "did you mean 'project'?"),
    ],
)
def test_a_misspelt_key_names_the_file_the_line_and_the_near_key(
    text: str, line: int, words: str
) -> None:
    fault = refusal(text)
    assert fault.code == "SETTINGS_KEY_UNKNOWN"
    assert fault.message.startswith(f"projects.toml line {line}: ")
    assert words in fault.message
    assert "known keys: " in fault.hint


def test_a_key_unlike_every_other_gets_no_suggestion() -> None:
    assert refusal("zzz = 1\n").message == "projects.toml line 1: 'zzz' is not a known key"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('roots = "~/code"\n', 1, "'roots' must be a list of strings; it is a string"),
        ('\nroots = ["a", 3]\n', 2, "'roots' must be a list of strings; it holds a number"),
        ("exclude = true\n", 1, "it is a true/false value"),
        ("exclude = [[1]]\n", 1, "it holds a list"),
        ("limits = 3\n", 1, "'limits' must be a table, [limits]; it is a number"),
        ("[limits]\n\ndepth = true\n", 3, "must be a whole number; it is a true/false value"),
        ("[limits]\ndepth = 2.5\n", 2, "must be a whole number; it is a number"),
        ('[limits]\ndepth = "3"\n', 2, "must be a whole number; it is a string"),
        ("[limits]\ndepth = 2026-01-01\n", 2, "it is a date or time"),
        ("[project]\npath = 1\n", 1, "'project' must be a list of tables, [[project]]"),
        ("project = [1]\n", 1, "it holds a number"),
        ("[[project]]\npath = {}\n", 2, "'path' in [project] must be a string; it is a table"),
        ("[[grant]]\nproject = 1\n", 2, "'project' in [grant] must be a string"),
        ("[redaction]\nallow = 'x'\n", 2, "'allow' in [redaction] must be a list of strings"),
        ("[embedding]\nmodel = 1\n", 2, "'model' in [embedding] must be a string; it is a number"),
        ("embedding = 'x'\n", 1, "'embedding' must be a table, [embedding]; it is a string"),
    ],
)
def test_a_wrong_type_names_file_line_and_key(text: str, line: int, words: str) -> None:
    fault = refusal(text)
    assert fault.code == "SETTINGS_TYPE_WRONG"
    assert fault.message.startswith(f"projects.toml line {line}: ")
    assert words in fault.message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[limits]\ndepth = 0\n", 2, "must be at least 1"),
        ("[limits]\ndepth = 65\n", 2, "must be at most 64"),
        ("[limits]\nfolders = -1\n", 2, "must be at least 1"),
        ('roots = [" "]\n', 1, "holds an empty string"),
        ('[[project]]\nid = "a"\n', 1, "'path' in [project] is missing"),
        ('[[project]]\npath = ""\n', 2, "'path' in [project] is empty"),
        ('[[project]]\npath = "a"\nid = "Big"\n', 3, "small letters, digits and inner hyphens"),
        ('[[project]]\npath = "a"\nid = "-a"\n', 3, "inner hyphens"),
        ('[[project]]\npath = "a"\nid = "a b"\n', 3, "inner hyphens"),
        (f'[[project]]\npath = "a"\nid = "{"a" * 81}"\n', 3, "at most 80"),
        ('[[project]]\npath = "a"\n[[project]]\npath = "./a"\n', 4, "is listed twice"),
        (
            '[[project]]\npath = "a"\naliases = ["X"]\n[[project]]\npath = "b"\naliases = ["x"]\n',
            6,
            "holds 'x' a second time",
        ),
        (f'[[project]]\npath = "a"\naliases = ["{"x" * 201}"]\n', 3, "or too long"),
        ('[[grant]]\nproject = "a"\n', 1, "'endpoint' in [grant] is missing"),
    ],
)
def test_a_wrong_value_names_file_line_and_key(text: str, line: int, words: str) -> None:
    fault = refusal(text)
    assert fault.code == "SETTINGS_VALUE_INVALID"
    assert fault.message.startswith(f"projects.toml line {line}: ")
    assert words in fault.message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('roots = [\n  "~/code",\n  "~nosuchuser-here/x",\n]\n', "'~nosuchuser-here/x' names a"),
        ('roots = ["a\\u0000b"]\n', "'a<U+0000>b' holds a NUL character"),
        ('[[project]]\npath = "~nosuchuser-here"\n', "'~nosuchuser-here' names a user"),
        (f'roots = ["{"x" * 5000}"]\n', "is longer than 4096 characters"),
    ],
)
def test_an_impossible_path_names_the_entry(text: str, words: str) -> None:
    fault = refusal(text)
    assert fault.code == "SETTINGS_PATH_INVALID"
    assert fault.message.startswith("projects.toml line ")
    assert words in fault.message
    assert fault.hint


@pytest.mark.parametrize("text", ["roots = [", "roots = ['a'", "= 3", 'a = "\n"', "a = 1\na = 2"])
def test_broken_toml_names_the_line(text: str) -> None:
    fault = refusal(text)
    assert fault.code == "SETTINGS_SYNTAX"
    assert fault.message.startswith("projects.toml line ")


def test_a_number_beyond_all_reason_is_refused() -> None:
    fault = refusal("depth = " + "1" * 6_000)
    assert fault.code == "SETTINGS_SYNTAX"
    assert fault.message == "projects.toml holds a number that is too long"


def test_toml_nested_beyond_all_reason_is_refused() -> None:
    fault = refusal("roots = " + "[" * 100_000)
    assert fault.code == "SETTINGS_SYNTAX"


def test_windows_line_ends_are_read_and_counted() -> None:
    assert parse('roots = ["a"]\r\nexclude = ["b"]\r\n').exclude == ("b",)
    assert refusal('roots = ["a"]\r\n[limits]\r\ndepht = 1\r\n').message.startswith(
        "projects.toml line 3: "
    )


def test_engines_have_a_time_limit() -> None:
    assert parse("[limits]\nengine_seconds = 60\n").limits.engine_seconds == 60
    assert parse("").limits.engine_seconds == 20
    with pytest.raises(SettingsError, match="at most 600"):
        parse("[limits]\nengine_seconds = 601\n")


def test_a_language_model_is_an_address_or_a_command() -> None:
    assert parse("").synthesis is None
    assert parse(
        '[synthesis]\nurl = "https://x/v1"\nmodel = "m"\nkey_variable = "KEY"\nseconds = 9\n'
    ).synthesis == Synthesis(url="https://x/v1", model="m", key_variable="KEY", seconds=9)
    assert parse('[synthesis]\ncommand = ["llm", "-m", "x"]\n').synthesis == Synthesis(
        command=("llm", "-m", "x")
    )


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[synthesis]\n", 1, "names neither a url nor a command"),
        ('[synthesis]\nmodel = "m"\n', 2, "needs a url or a command"),
        ("[synthesis]\nseconds = 3\n", 2, "needs a url or a command"),
        ('[synthesis]\nurl = "https://x"\nmodel = "m"\ncommand = ["x"]\n', 4, "and not both"),
        ('[synthesis]\nurl = "https://x"\n', 2, "needs a model"),
        ('[synthesis]\ncommand = ["x"]\nmodel = "m"\n', 3, "belongs to a url"),
        ('[synthesis]\ncommand = ["x"]\nkey_variable = "K"\n', 3, "belongs to a url"),
        ('[synthesis]\ncommand = "llm -m x"\n', 2, "a list of strings"),
        ('[synthesis]\nurl = "https://x"\nmodel = "m"\nseconds = 0\n', 4, "at least 1"),
        ('[synthesis]\nurl = "https://x"\nmodel = "m"\nkey = "k"\n', 4, "is not a known key"),
        ('synthesis = "x"\n', 1, "a table"),
    ],
)
def test_mistakes_about_the_language_model_name_their_line(text: str, line: int, said: str) -> None:
    with pytest.raises(SettingsError) as raised:
        parse(text)

    assert said in raised.value.message
    assert f"line {line}:" in raised.value.message


def test_a_key_in_the_place_of_its_variable_is_refused_and_not_shown() -> None:
    with pytest.raises(SettingsError) as raised:
        parse(
            '[synthesis]\nurl = "https://x"\nmodel = "m"\n'
            'key_variable = "sk-proj-0123456789abcdef"\n'
        )

    assert "line 4" in raised.value.message
    assert "0123456789" not in raised.value.message + raised.value.hint


def test_folders_of_code_that_are_wanted_are_listed() -> None:
    assert parse('[corpus]\ninclude = ["vendor/own"]\n').corpus_include == ("vendor/own",)
    assert "did you mean 'include'" in refusal("[corpus]\nincluded = []\n").message
