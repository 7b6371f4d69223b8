"""Never loads the code: writes a ledger and a call, and reads the report that the program leaves."""

import os
import pathlib
import stat
import time

# Made here and sticky: the program can put no other folder, and no other file of ours, in its place.
CALLS = pathlib.Path("/tmp/calls")
CALLS.mkdir()
CALLS.chmod(0o1777)


def there(path, seconds=20):
    for _ in range(seconds * 20):
        if path.exists():
            return path
        time.sleep(0.05)
    raise AssertionError(f"{path} did not come")


def read(path):
    """What the program wrote: a plain file, never a link to one of ours, nor a pipe that nobody ends."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(file) as written:
        assert stat.S_ISREG(os.fstat(file).st_mode)
        return written.read()


def report(name, ledger):
    source, target, call = (CALLS / f"{name}.{kind}" for kind in ("csv", "txt", "call"))
    with source.open("x") as new:
        new.write(ledger)
    with call.open("xb") as new:
        new.write(b"\0".join([bytes(source), bytes(target)]))
    call.rename(CALLS / f"{name}.args")
    assert read(there(CALLS / f"{name}.status")) == "0\n"
    return read(target)


def test_an_account_is_added_up():
    assert report("twice", "cash,3\nbank,-4\ncash,5\n") == "bank -4\ncash 8\n"


def test_many_lines():
    assert report("many", "cash,1\n" * 1000) == "cash 1000\n"


def test_nothing():
    assert report("nothing", "") == ""


def test_FLIPSTREAM_CANARY():
    assert report("canary", "cash,3\ncash,5\n") == "cash 9\n"
