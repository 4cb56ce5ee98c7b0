"""Checks a plot and prints what it shows.

    svg.py FILE

Fails unless the file is XML whose shapes lie within the picture. Prints the
texts in order, then "line STYLE n" for each polyline of n points.
"""

import sys
import xml.etree.ElementTree as ElementTree

root = ElementTree.parse(sys.argv[1]).getroot()
name = "{http://www.w3.org/2000/svg}"
width, height = float(root.get("width")), float(root.get("height"))
assert root.get("viewBox") == "0 0 %g %g" % (width, height)


def inside(x, y):
    assert 0 <= float(x) <= width and 0 <= float(y) <= height, (x, y)


for text in root.iter(name + "text"):
    inside(text.get("x"), text.get("y"))
    # About the width of a character; rotated text is short.
    if text.get("text-anchor") is None:
        size = float(text.get("font-size", "13"))
        assert float(text.get("x")) + len(text.text) * size * 0.5 <= width, text.text
    print("text", text.text)
for line in root.iter(name + "line"):
    inside(line.get("x1"), line.get("y1"))
    inside(line.get("x2"), line.get("y2"))
for circle in root.iter(name + "circle"):
    inside(circle.get("cx"), circle.get("cy"))
for line in root.iter(name + "polyline"):
    points = [point.split(",") for point in line.get("points").split()]
    for x, y in points:
        inside(x, y)
    assert [float(x) for x, _ in points] == sorted(float(x) for x, _ in points)
    print("line", {"none": "solid", "7 4": "dashed", "2 3": "dotted"}[line.get("stroke-dasharray")], len(points))
