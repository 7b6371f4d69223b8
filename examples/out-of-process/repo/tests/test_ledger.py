import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src"))

from ledger import totals


def test_one_line_each():
    assert totals([["cash", "3"], ["bank", "-4"]]) == {"cash": 3, "bank": -4}
