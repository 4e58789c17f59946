"""Replays that continue others."""

from __future__ import annotations

import pytest

from millrace_cli.errors import CommandError
from millrace_cli.recordings.contents import Extent
from millrace_cli.recordings.replay import RecordingReplay, check_shift

TIMED, UNTIMED = Extent(2, (0,), 500, 900), Extent(2, (0,), None, None, 2)
SHIFTED = RecordingReplay("copied", "group", shift_time=True)


def test_a_replay_that_continues_one_with_the_recorded_times_cannot_move_them() -> None:
    with pytest.raises(CommandError, match=r"--shift-time: this replay would continue an earlier one .* with --again"):
        check_shift(SHIFTED, 0, TIMED)


@pytest.mark.parametrize(
    ("replay", "shift", "extent"),
    [(SHIFTED, 7, TIMED), (SHIFTED, 0, UNTIMED), (RecordingReplay("copied", "group"), 0, TIMED)],
)
def test_a_replay_continues_one_with_the_same_times(replay: RecordingReplay, shift: int, extent: Extent) -> None:
    check_shift(replay, shift, extent)
