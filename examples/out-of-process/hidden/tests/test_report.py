"""Never loads the code: writes a ledger and a call, and reads the report that the program leaves."""

import pathlib
import time

CALLS = pathlib.Path("/tmp/calls")


def there(path, seconds=20):
    for _ in range(seconds * 20):
        if path.exists():
            return path
        time.sleep(0.05)
    raise AssertionError(f"{path} did not come")


def report(name, ledger):
    there(CALLS)
    source, target = CALLS / f"{name}.csv", CALLS / f"{name}.txt"
    source.write_text(ledger)
    call = CALLS / f"{name}.call"
    call.write_bytes(b"\0".join([bytes(source), bytes(target)]))
    call.rename(CALLS / f"{name}.args")
    assert there(CALLS / f"{name}.status").read_text() == "0\n"
    return target.read_text()


def test_an_account_is_added_up():
    assert report("twice", "cash,3\nbank,-4\ncash,5\n") == "bank -4\ncash 8\n"


def test_many_lines():
    assert report("many", "cash,1\n" * 1000) == "cash 1000\n"


def test_nothing():
    assert report("nothing", "") == ""


def test_FLIPSTREAM_CANARY():
    assert report("canary", "cash,3\ncash,5\n") == "cash 9\n"
