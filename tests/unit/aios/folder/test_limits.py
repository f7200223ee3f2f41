"""Every limit of the convention, by its number (DotAIOS convention; docs/reference/aios.md)."""

import pytest

from agentic_os.aios import documents as answers
from agentic_os.aios.context import coverage, notes
from agentic_os.aios.context import selection as projection
from agentic_os.aios.context import sources as projection_sources
from agentic_os.aios.folder import allowance, configuration, front_matter
from agentic_os.aios.folder.allowance import SEARCH_LIMIT, Amount
from agentic_os.aios.follow import pages as follow_pages
from agentic_os.aios.follow import references
from agentic_os.aios.intent import request as resolution
from agentic_os.aios.intent import skill_ranking, skills
from agentic_os.aios.intent import values as resolution_values
from agentic_os.aios.projects import catalog
from agentic_os.aios.projects import selection as identity
from agentic_os.aios.projects import values as projects
from agentic_os.aios.search import lines as search_lines
from agentic_os.aios.search import memory as search_memory
from agentic_os.aios.search import omissions
from agentic_os.aios.search import request as search
from agentic_os.aios.search import sessions as search_sessions

KIB, MIB = 1024, 1024 * 1024


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (configuration.CONFIGURATION_BYTES, MIB),
        (front_matter.FRONT_MATTER_BYTES, 16 * KIB),
        (projects.EXCERPT_CHARS, 1_200),
        (projects.SELECTOR_CHARS, 200),
        (catalog.PROJECTS_FOLDER_ENTRIES, 256),
        (catalog.README_BYTES, MIB),
        (projection_sources.PROJECTION_BYTES, 16 * MIB),
        (projection_sources.PROJECTION_FILES, 512),
        (projection_sources.PROJECTION_ENTRIES, 10_000),
        (projection_sources.MARKDOWN_BYTES, MIB),
        (projection_sources.SIGNAL_FILE_BYTES, MIB),
        (projection_sources.DECISIONS_BYTES, 4 * MIB),
        (projection_sources.TIMELINE_BYTES, 8 * MIB),
        (projection_sources.SIGNAL_FOLDER_ENTRIES, 8_192),
        (projection_sources.SIGNAL_FILES, 64),
        (projection_sources.SHOWN_SIGNALS, 8),
        (projection_sources.SHOWN_EVENTS, 8),
        (projection.DEFAULT_BUDGET_CHARS, 6_000),
        (projection.DEFAULT_SESSIONS, 3),
        (notes.HEADER_CHARS, 800),
        (notes.PLAN_ITEMS, 4),
        (notes.CARRY_OVERS, 5),
        (notes.DECISIONS, 3),
        (coverage.COVERAGE_CHARS, 512),
        (answers.METADATA_CHARS, 1_024),
        (answers.ARRAY_ITEMS, 5),
        (answers.TEXT_CHARS, 300),
        (answers.LONG_TEXT_CHARS, 800),
        (resolution_values.USED_ROUNDS, 8),
        (SEARCH_LIMIT, Amount(bytes=256 * MIB, files=50_000, entries=500_000)),
        (allowance.FILE_BYTES, 4 * MIB),
        (allowance.FOLDER_ENTRIES, 8_192),
        (identity.SCAN_FOLDER_ENTRIES, 8_192),
        (search.QUERY_CHARS, 500),
        (search.DEFAULT_LIMIT, 20),
        (search_memory.VALUE_CHARS, 160),
        (search_sessions.AROUND_CHARS, 60),
        (search_lines.PASSAGE_CHARS, 140),
        (search_lines.SHOWN_TITLE_CHARS, 80),
        (search_lines.RECORD_CHARS, 100),
        (omissions.OMISSIONS, 32),
        (references.REFERENCE_CHARS, 1_536),
        (references.SOURCE_CHARS, 512),
        (references.HEADER_SOURCE_BYTES, MIB),
        (references.SOURCE_BYTES, 4 * MIB),
        (follow_pages.MIN_PAGE_CHARS, 3_530),
        (follow_pages.MAX_PAGE_CHARS, 32_000),
        (follow_pages.DEFAULT_PAGE_CHARS, 6_000),
        (skills.INTENT_CHARS, 500),
        (skill_ranking.MIN_SCORE, 0.05),
        (skill_ranking.EXACT_SCORE, 100.0),
        (skill_ranking.AMBIGUOUS_BELOW, 0.55),
        (resolution.MIN_BUDGET_CHARS, 1_024),
        (resolution.MAX_BUDGET_CHARS, 32_000),
        (resolution.DEFAULT_BUDGET_CHARS, 8_000),
        (resolution.SHRINK_ATTEMPTS, 4),
    ],
)
def test_limits_are_those_of_the_convention(found: object, expected: object) -> None:
    assert found == expected
