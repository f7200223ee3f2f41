"""One row for each language that is read by a table: its grammar, and the queries for it.

``@container`` is what holds definitions of its own (a class, a module), ``@definition`` what can
be called, ``@type`` any other named thing. ``@import`` is the text of what is taken in; ``@near``
the same where it is a path from the file's own folder.
"""

import importlib.util
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from agentic_os.code.values import Language


class Row(NamedTuple):
    """How a language is read.

    Attributes:
        language: its name.
        suffixes: of its files, lower case.
        module: the module of its grammar.
        definitions: the query for definitions.
        imports: the query for imports.
        function: the function of the module that gives the grammar.
        found_as: the endings that a path of an import may lack; ``/`` stands for a folder.
    """

    language: Language
    suffixes: tuple[str, ...]
    module: str
    definitions: str
    imports: str
    function: str = "language"
    found_as: tuple[str, ...] = ("",)


_C_FUNCTIONS = "\n".join(
    f"(function_definition declarator: {before}(function_declarator declarator: (_) @name)"
    f"{')' * before.count('(')}) @definition"
    for before in (
        "",
        "(pointer_declarator declarator: ",
        "(pointer_declarator declarator: (pointer_declarator declarator: ",
    )
)
_C_TYPES = """
(struct_specifier name: (type_identifier) @name body: (_)) @type
(union_specifier name: (type_identifier) @name body: (_)) @type
(enum_specifier name: (type_identifier) @name body: (_)) @type
(type_definition declarator: (type_identifier) @name) @type
(preproc_function_def name: (identifier) @name) @definition
"""
_C_IMPORTS = """
(preproc_include path: (system_lib_string) @import)
(preproc_include path: (string_literal) @near)
"""

ROWS: tuple[Row, ...] = (
    Row(
        "java",
        (".java",),
        "tree_sitter_java",
        """
        (class_declaration name: (identifier) @name) @container
        (interface_declaration name: (identifier) @name) @container
        (enum_declaration name: (identifier) @name) @container
        (record_declaration name: (identifier) @name) @container
        (annotation_type_declaration name: (identifier) @name) @container
        (method_declaration name: (identifier) @name) @definition
        (constructor_declaration name: (identifier) @name) @definition
        (compact_constructor_declaration name: (identifier) @name) @definition
        """,
        "(import_declaration (_) @import)",
    ),
    Row(
        "kotlin",
        (".kt", ".kts"),
        "tree_sitter_kotlin",
        """
        (class_declaration name: (identifier) @name) @container
        (object_declaration name: (identifier) @name) @container
        (function_declaration name: (identifier) @name) @definition
        (type_alias type: (identifier) @name) @type
        """,
        "(import (qualified_identifier) @import)",
    ),
    Row(
        "rust",
        (".rs",),
        "tree_sitter_rust",
        """
        (mod_item name: (identifier) @name body: (_)) @container
        (trait_item name: (type_identifier) @name) @container
        (impl_item type: (type_identifier) @name) @container
        (impl_item type: (generic_type type: (type_identifier) @name)) @container
        (impl_item type: (reference_type type: (type_identifier) @name)) @container
        (function_item name: (identifier) @name) @definition
        (function_signature_item name: (identifier) @name) @definition
        (macro_definition name: (identifier) @name) @definition
        (struct_item name: (type_identifier) @name) @type
        (enum_item name: (type_identifier) @name) @type
        (union_item name: (type_identifier) @name) @type
        (type_item name: (type_identifier) @name) @type
        """,
        """
        (use_declaration argument: (_) @import)
        (mod_item name: (identifier) @near !body)
        """,
        found_as=(".rs", "/mod.rs"),
    ),
    Row("c", (".c", ".h"), "tree_sitter_c", _C_FUNCTIONS + _C_TYPES, _C_IMPORTS),
    Row(
        "cpp",
        (".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".cu", ".cuh"),
        "tree_sitter_cpp",
        f"""
        {_C_FUNCTIONS}
        (function_definition declarator: (reference_declarator
          (function_declarator declarator: (_) @name))) @definition
        (namespace_definition name: (_) @name) @container
        (class_specifier name: (type_identifier) @name body: (_)) @container
        (struct_specifier name: (type_identifier) @name body: (_)) @container
        (union_specifier name: (type_identifier) @name body: (_)) @type
        (enum_specifier name: (type_identifier) @name body: (_)) @type
        (type_definition declarator: (type_identifier) @name) @type
        (alias_declaration name: (type_identifier) @name) @type
        (concept_definition name: (identifier) @name) @type
        (preproc_function_def name: (identifier) @name) @definition
        """,
        _C_IMPORTS,
    ),
    Row(
        "c-sharp",
        (".cs",),
        "tree_sitter_c_sharp",
        """
        (namespace_declaration name: (_) @name) @container
        (class_declaration name: (identifier) @name) @container
        (interface_declaration name: (identifier) @name) @container
        (struct_declaration name: (identifier) @name) @container
        (record_declaration name: (identifier) @name) @container
        (enum_declaration name: (identifier) @name) @type
        (delegate_declaration name: (identifier) @name) @type
        (method_declaration name: (identifier) @name) @definition
        (constructor_declaration name: (identifier) @name) @definition
        (local_function_statement name: (identifier) @name) @definition
        (property_declaration name: (identifier) @name) @type
        """,
        """
        (using_directive [(identifier) (qualified_name) (alias_qualified_name)] @import .)
        """,
    ),
    Row(
        "ruby",
        (".rb", ".rake", ".gemspec"),
        "tree_sitter_ruby",
        """
        (module name: (_) @name) @container
        (class name: (_) @name) @container
        (method name: (_) @name) @definition
        (singleton_method name: (_) @name) @definition
        """,
        """
        ((call method: (identifier) @word arguments: (argument_list . (string (string_content)
          @import))) (#eq? @word "require"))
        ((call method: (identifier) @word arguments: (argument_list . (string (string_content)
          @near))) (#eq? @word "require_relative"))
        """,
        found_as=("", ".rb"),
    ),
    Row(
        "php",
        (".php", ".phtml"),
        "tree_sitter_php",
        """
        (class_declaration name: (name) @name) @container
        (interface_declaration name: (name) @name) @container
        (trait_declaration name: (name) @name) @container
        (enum_declaration name: (name) @name) @container
        (method_declaration name: (name) @name) @definition
        (function_definition name: (name) @name) @definition
        """,
        """
        (namespace_use_declaration (namespace_use_clause [(qualified_name) (name)] @import))
        (namespace_use_declaration (namespace_name) @before
          body: (namespace_use_group (namespace_use_clause . (_) @import)))
        (require_expression (string (string_content) @near))
        (require_once_expression (string (string_content) @near))
        (include_expression (string (string_content) @near))
        (include_once_expression (string (string_content) @near))
        """,
        function="language_php",
    ),
    Row(
        "swift",
        (".swift",),
        "tree_sitter_swift",
        """
        (class_declaration name: (_) @name) @container
        (protocol_declaration name: (type_identifier) @name) @container
        (function_declaration name: (simple_identifier) @name) @definition
        (protocol_function_declaration name: (simple_identifier) @name) @definition
        (init_declaration "init" @name) @definition
        (typealias_declaration name: (type_identifier) @name) @type
        """,
        "(import_declaration (identifier) @import)",
    ),
    Row(
        "scala",
        (".scala", ".sc", ".sbt"),
        "tree_sitter_scala",
        """
        (class_definition name: (identifier) @name) @container
        (object_definition name: (identifier) @name) @container
        (trait_definition name: (identifier) @name) @container
        (enum_definition name: (identifier) @name) @container
        (function_definition name: (_) @name) @definition
        (function_declaration name: (_) @name) @definition
        (type_definition name: (type_identifier) @name) @type
        """,
        "(import_declaration) @import",
    ),
    Row(
        "bash",
        (".sh", ".bash"),
        "tree_sitter_bash",
        "(function_definition name: (word) @name) @definition",
        """
        ((command name: (command_name (word) @word) argument: [(word) (string (string_content))]
          @near) (#any-of? @word "source" "."))
        """,
    ),
)
BY_LANGUAGE: Mapping[str, Row] = {row.language: row for row in ROWS}
_BY_SUFFIX: Mapping[str, Row] = {suffix: row for row in ROWS for suffix in row.suffixes}


def row_of(path: str) -> Row | None:
    """Return the row that a path's suffix names, whether its grammar is there or not."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _BY_SUFFIX.get(name[dot:].lower()) if dot > 0 else None


@cache
def is_installed(language: str) -> bool:
    """Whether the grammar of a row's language is installed."""
    row = BY_LANGUAGE.get(language)
    return row is not None and importlib.util.find_spec(row.module) is not None


def grammars() -> tuple[str, ...]:
    """Return the languages of the table whose grammars are installed."""
    return tuple(row.language for row in ROWS if is_installed(row.language))
