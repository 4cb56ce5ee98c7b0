"""Runs a command that must be refused, and prints what it says.

    refused.py COMMAND...

Fails unless the command exits with 1, prints nothing on stdout and exactly one
diagnostic on stderr, "TOOL: error: ..." or "FILE:LINE:COLUMN: error: ..." with
notes, and leaves every file below the working folder as it was.
"""

import pathlib
import re
import subprocess
import sys


def files():
    return {
        path: path.read_bytes() if path.is_file() else None
        for path in pathlib.Path(".").rglob("*")
    }


before = files()
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
sys.stdout.write(done.stderr)
problems = []
if done.returncode != 1:
    problems.append("exit status %d instead of 1" % done.returncode)
if done.stdout:
    problems.append("output: " + done.stdout)
lines = done.stderr.splitlines()
errors = [line for line in lines if "error:" in line]
if errors != lines[:1] or not re.match(r"(fa-run|fa-bench|\S+:\d+:\d+): error: \S", errors[0]):
    problems.append("expected one diagnostic, but got %d" % len(errors))
if files() != before:
    problems.append("files were changed: %s" % sorted(map(str, files().keys() ^ before)))
if problems:
    sys.exit("\n".join(problems))
