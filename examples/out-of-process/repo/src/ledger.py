"""Adds up a ledger: python3 src/ledger.py IN.csv OUT.txt"""

import csv
import sys


def totals(rows):
    found = {}
    for account, cents in rows:
        found[account] = int(cents)
    return found


def main(source, target):
    with open(source, newline="") as lines:
        found = totals(csv.reader(lines))
    with open(target, "w") as report:
        for account in sorted(found):
            report.write(f"{account} {found[account]}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
