from agentic_os.web.session import CODE_SECONDS, MAX_CODES, MAX_SESSIONS, LoginDesk, cookie_name


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_code_logs_in_once() -> None:
    desk = LoginDesk(clock=Clock())
    code = desk.new_code()
    session = desk.exchange(code)

    assert session is not None
    assert desk.knows(session)
    assert desk.exchange(code) is None
    assert session != code
    assert len(code) >= 43


def test_a_code_is_good_for_two_minutes() -> None:
    clock = Clock()
    desk = LoginDesk(clock=clock)
    code, late = desk.new_code(), desk.new_code()
    clock.now = CODE_SECONDS
    assert desk.exchange(code) is not None
    clock.now = CODE_SECONDS + 0.1
    assert desk.exchange(late) is None


def test_nothing_else_is_a_code_or_a_session() -> None:
    desk = LoginDesk(clock=Clock())
    desk.new_code()
    for guess in ("", "x", "é", "\ud800", "0" * 100_000):
        assert desk.exchange(guess) is None
        assert not desk.knows(guess)


def test_the_oldest_session_is_logged_out_and_the_oldest_code_forgotten() -> None:
    desk = LoginDesk(clock=Clock())
    sessions = [desk.exchange(desk.new_code()) for _ in range(MAX_SESSIONS + 1)]
    assert all(sessions)
    assert [desk.knows(session or "") for session in sessions] == [False] + [True] * MAX_SESSIONS
    codes = [desk.new_code() for _ in range(MAX_CODES + 1)]
    assert desk.exchange(codes[0]) is None
    assert desk.exchange(codes[1]) is not None


def test_the_cookie_is_named_by_its_port() -> None:
    assert cookie_name(80) != cookie_name(81)
