"""Checks that the CSV and the JSON of one run say the same, and prints a line
for each row.

    results.py CSV JSON
"""

import csv
import json
import math
import sys

with open(sys.argv[1], newline="") as file:
    rows = list(csv.DictReader(file))
with open(sys.argv[2]) as file:
    report = json.load(file)
print(report["benchmark"], "on", report["device"].split()[0])
assert len(rows) == len(report["rows"])
for row, other in zip(rows, report["rows"]):
    for key in set(row) & set(other):
        if key == "tiles":
            assert row[key] == " ".join("%s=%d" % item for item in other[key].items())
        elif key == "from_cache":
            assert row[key] == str(int(other[key]))
        elif key == "check":
            assert row[key] == ("ok" if other[key]["pass"] else "FAILED")
        elif isinstance(other[key], (int, float)):
            assert math.isclose(float(row[key]), other[key], rel_tol=1e-5), key
        else:
            assert row[key] == other[key], key
    if "failure" not in other:
        rate = other["flops"] / other["milliseconds"] * 1e-9
        assert math.isclose(rate, other["tflops"], rel_tol=1e-9)
        assert len(other["groups_ms"]) == report["groups"]
        assert sorted(other["groups_ms"])[report["groups"] // 2] == other["milliseconds"]
        assert other["compile_ms"] > 0 and other["first_launch_ms"] > 0
    for anchor in other.get("anchors", []):
        assert math.isclose(anchor["ratio"], other["tflops"] / anchor["tflops"], rel_tol=1e-9)
    print(*["%s=%s" % (key, row[key]) for key in list(row)[:8] if key not in ("tflops", "milliseconds")],
          "check=" + row["check"], "anchors=%d" % len(other.get("anchors", [])), "best=" + row["best_anchor"])
