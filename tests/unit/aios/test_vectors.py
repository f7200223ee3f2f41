"""Every vector of the writing side's reference has its test: which one, by section and number.

Sections: 1 rules of every writer, 2 init, 8 update, 9 daily note and brief, 10 sessions, 11
save-summary, 12 archives, 13 audit, 14 promotion, 20 migration, 22 bundled skills, 25 imported
memories, 26 proof (what holds for all sections).
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNIT, WHOLE = "unit/aios", "integration/aios"
VECTORS = {
    "1a": f"{UNIT}/writing/test_writer.py::test_a_target_that_changes_meanwhile_is_left",
    "1b": f"{UNIT}/writing/test_writer.py::test_a_torn_tail_is_closed_first",
    "1c": f"{UNIT}/writing/test_locks.py::test_many_writers_lose_no_line",
    "1d": f"{UNIT}/writing/test_locks.py"
    "::test_malformed_records_and_other_machines_wait_five_minutes",
    "1e": f"{UNIT}/writing/test_writer.py"
    "::test_killed_at_every_step_there_are_old_bytes_or_new_ones",
    "2.1": f"{UNIT}/birth/test_init.py::test_a_second_run_creates_nothing",
    "2.2": f"{UNIT}/birth/test_init.py"
    "::test_stopped_at_every_step_there_is_no_folder_and_a_second_run_completes_it",
    "2.3": f"{UNIT}/birth/test_init.py::test_what_is_the_persons_is_never_replaced",
    "2.4": f"{WHOLE}/test_writing.py::test_answers_that_are_refused_make_nothing",
    "8.1": f"{UNIT}/notes/test_update.py::test_an_evening_update",
    "8.2": f"{UNIT}/notes/test_update.py::test_stopped_at_every_step_a_retry_completes_it",
    "8.3": f"{UNIT}/notes/test_update.py::test_parallel_updates",
    "8.4": f"{UNIT}/writing/test_writer.py::test_a_torn_tail_is_closed_first",
    "9.1": f"{UNIT}/notes/test_brief.py::test_an_empty_folder_has_three_placeholders",
    "9.2": f"{UNIT}/notes/test_daily.py::test_the_brief_goes_after_the_title",
    "9.3": f"{UNIT}/notes/test_brief.py::test_what_is_listed_and_that_nothing_else_changes",
    "9.4": f"{UNIT}/notes/test_brief.py::test_what_is_listed_and_that_nothing_else_changes",
    "10.1": f"{UNIT}/sessions/test_codec.py::test_the_bytes_of_the_convention",
    "10.2": f"{UNIT}/sessions/test_codec.py::test_a_grown_body",
    "10.3": f"{UNIT}/sessions/test_capture.py::test_created_grown_idempotent_and_in_conflict",
    "10.4": f"{UNIT}/sessions/test_capture.py"
    "::test_stopped_at_every_step_the_next_capture_converges",
    "10.5": f"{UNIT}/sessions/test_sources.py::test_every_form",
    "10.6": f"{UNIT}/sessions/test_sources.py::test_every_form",
    "10.7": f"{WHOLE}/test_writing.py::test_a_private_chat_is_no_failure",
    "10.8": f"{UNIT}/sessions/test_capture.py::test_an_index_that_lies_is_refused_and_written_anew",
    "11.1": f"{UNIT}/sessions/test_codec.py::test_a_saved_summary",
    "11.2": f"{UNIT}/sessions/test_summary.py::test_the_same_bytes_give_the_same_answer",
    "11.3": f"{UNIT}/sessions/test_summary.py::test_six_at_once",
    "11.4": f"{UNIT}/sessions/test_summary.py::test_requests_that_are_refused",
    "12.1": f"{UNIT}/archives/test_maintenance.py::test_stopped_at_every_step",
    "12.2": f"{UNIT}/archives/test_maintenance.py::test_the_newest_fifty_stay_and_bytes_are_kept",
    "12.3": f"{UNIT}/archives/test_maintenance.py::test_what_an_original_left",
    "12.4": f"{UNIT}/archives/test_maintenance.py::test_stopped_at_every_step",
    "13.1": f"{UNIT}/knowledge/test_audit.py::test_budgets",
    "13.2": f"{UNIT}/knowledge/test_audit.py::test_candidates_are_queued_and_applied_once",
    "13.3": f"{UNIT}/knowledge/test_audit.py::test_candidates_are_queued_and_applied_once",
    "14.1": f"{UNIT}/knowledge/test_promotion.py::test_blocks",
    "14.2": f"{UNIT}/knowledge/test_promotion.py::test_blocks",
    "14.3": f"{UNIT}/knowledge/test_promotion.py::test_stopped_at_every_step_there_is_one_event",
    "14.4": f"{UNIT}/knowledge/test_promotion.py::test_what_makes_a_preview_stale",
    "14.5": f"{UNIT}/knowledge/test_promotion.py::test_arguments_that_are_refused",
    "14.6": f"{UNIT}/knowledge/test_promotion.py::test_what_makes_a_preview_stale",
    "20.1": f"{UNIT}/birth/test_migration.py::test_what_changes",
    "20.2": f"{UNIT}/birth/test_migration.py::test_configurations_that_are_refused",
    "20.3": f"{UNIT}/birth/test_migration.py"
    "::test_stopped_at_every_step_it_is_taken_back_and_done_again",
    "20.4": f"{UNIT}/birth/test_migration.py::test_an_edit_while_it_was_unfinished_is_kept",
    "22.1": f"{UNIT}/notes/test_brief.py::test_sections_are_set_and_carried",
    "22.2": f"{UNIT}/notes/test_daily.py::test_carrying_over",
    "22.3": f"{UNIT}/notes/test_brief.py::test_sections_are_set_and_carried",
    "25 memories": f"{UNIT}/knowledge/test_promotion.py::test_memories_of_other_agents",
    "25 undo": f"{UNIT}/writing/test_plan.py"
    "::test_a_preview_changes_nothing_and_is_applied_exactly",
    "26 crash": f"{WHOLE}/test_hindered.py::test_stopped_at_every_step_the_next_run_converges",
    "26 race": f"{UNIT}/writing/test_locks.py::test_a_race_with_the_original_over_every_form",
    "26 interop": f"{UNIT}/writing/test_locks.py::test_a_lock_of_the_original_excludes_us",
    "26 previews": f"{WHOLE}/test_writing.py::test_previews_change_no_byte_mode_or_time",
    "26 containment": f"{WHOLE}/test_hindered.py::test_nothing_is_written_through_a_link",
    "26 no space": f"{WHOLE}/test_hindered.py"
    "::test_without_space_it_is_refused_and_nothing_is_lost",
    "26 read-only": f"{WHOLE}/test_hindered.py::test_a_read_only_folder_is_left_as_it_is",
    "26 round trip": f"{WHOLE}/test_round_trip.py::test_another_reader_finds_every_line_once",
    "26 tools": f"{WHOLE}/test_writing.py::test_no_writing_verb_over_mcp",
    "26 real transcripts": "services/test_transcripts.py",
    "bad 200 MB": f"{UNIT}/sessions/test_sources.py::test_a_huge_transcript_is_streamed",
    "bad malformed": f"{UNIT}/sessions/test_sources.py"
    "::test_half_written_and_malformed_lines_are_passed_over",
    "bad hostile": f"{WHOLE}/test_hostile.py::test_hostile_text_stays_text",
    "bad names": f"{WHOLE}/test_hostile.py::test_names_in_any_writing",
    "bad growing": f"{WHOLE}/test_hostile.py::test_a_transcript_that_grows_while_it_is_read",
    "bad clock": f"{WHOLE}/test_hostile.py::test_a_clock_that_goes_back",
    "bad two machines": f"{WHOLE}/test_two_machines.py::test_what_both_captured_is_there_once",
}
COUNTED = {"2": 4, "8": 4, "9": 4, "10": 8, "11": 4, "12": 4, "13": 3, "14": 6, "20": 4, "22": 3}
"""How many vectors a section of the reference has; those of section 1 have letters."""


@pytest.mark.parametrize("vector", VECTORS)
def test_the_test_of_a_vector_exists(vector: str) -> None:
    path, _, name = VECTORS[vector].partition("::")
    text = (ROOT / path).read_text(encoding="utf-8")
    assert not name or re.search(rf"^def {name}\(", text, re.MULTILINE)


def test_no_vector_is_missing() -> None:
    wanted = {f"{section}.{at}" for section, count in COUNTED.items() for at in range(1, count + 1)}
    wanted |= {f"1{letter}" for letter in "abcde"}
    assert {name for name in VECTORS if name[0].isdigit() and " " not in name} == wanted
