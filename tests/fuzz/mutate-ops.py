#!/usr/bin/env python3
"""Checks that fa-opt rejects malformed IR with a diagnostic and never crashes.

Takes the valid examples of the documentation in generic form, where attributes,
types, operands and regions can be written without the custom parsers' checks,
and changes one thing at a time: each attribute dropped or replaced, each value
given another type at its definition and at all its uses, operands, results,
block arguments, terminators and operations dropped or doubled, operations
renamed. Each mutant is parsed, verified and, where it still verifies,
canonicalised, so that folders and patterns run too.

The mutants are enumerated, not drawn: a run is deterministic, and --stride N
takes every Nth of them, from --offset on. A mutant that ends fa-opt by a signal
is printed in full and fails the run; so does one that is rejected without an
error that has a position. Standard library only."""

import argparse
import concurrent.futures
import copy
import itertools
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPLIT = "\n// -----\n"

ATTRIBUTES = """
-1 : i32|0 : i32|1 : i32|2 : i32|7 : i32|2147483647 : i32|-2147483648 : i32
0 : i64|-9223372036854775808 : i64|9223372036854775807 : i64|1 : index|1 : si32
3 : ui8|true|unit|"text"|""|[]|["x", "x"]|["", "a b"]|[1 : i32]|{}|[{}]
array<i32>|array<i32: 1, 0>|array<i32: -1>|array<i32: 0, 0>|array<i32: 0, 1, 2>
array<i32: 2147483647, -2147483648>|array<i32: 1, 1, 1>|array<i32: 1, 2, 0>
array<i32: 5, 0, 0>|array<i32: -1, 1, 1>|array<i64: 1, 0>|array<i1: true>
array<i1: true, false, true>|dense<1> : tensor<2xi32>|dense<1.0> : tensor<16xf32>
1.0 : f32|0.0 : f64|0x7FC00000 : f32|0xFF800000 : f32|1.0 : f8E4M3FN|1.0 : bf16
f32|() -> ()|(i32) -> ()|() -> i32|(!tile.ptr<f32>, i32) -> ()|(tensor<4xf32>) -> ()
affine_map<() -> ()>|affine_map<() -> (-1)>|affine_map<()[s0] -> (s0)>
affine_map<(d0) -> (d0)>|affine_map<(d0) -> (d0 floordiv 0)>|affine_map<() -> (1, 2, 3, 4)>
@symbol|@k|#tile<axis z>|#tile<padding nan>|#tile<input_precision tf32>
#arith.fastmath<fast>|dense_resource<none> : tensor<2xi32>|sparse<0, 1> : tensor<2xi32>
""".replace("\n", "|").strip("|").split("|")

TYPES = """
f32|f64|bf16|f8E5M2|f4E2M1FN|i1|i8|i32|i64|i7|si32|ui8|index|none|complex<f32>
tuple<>|vector<4xf32>|vector<16xi32>|memref<4xf32>|tensor<*xf32>|tensor<f32>
tensor<0xf32>|tensor<16x0xf32>|tensor<?xf32>|tensor<16x?xi32>|tensor<16xf32>
tensor<16xi32>|tensor<40xi1>|tensor<16xindex>|tensor<3x5x7xf32>|tensor<2x3x5x7xbf16>
tensor<16x40xf32>|tensor<16xf8E4M3FN>|tensor<16x16xi8>|tensor<2147483648xf32>
tensor<1048577xf32>|tensor<1024x1024xi32>|tensor<4294967296x4294967296xf32>
tensor<9223372036854775807x3xf32>|tensor<16xf32, "encoding">|tensor<4xvector<2xf32>>
tensor<4xcomplex<f32>>|tensor<16x!tile.ptr<f32>>|tensor<!tile.ptr<f32>>
tensor<?x!tile.ptr<f32>>|tensor<4x!tile.block_ptr<4xf32>>|!tile.ptr<f32>|!tile.ptr<i1>
!tile.ptr<f8E4M3FN>|!tile.ptr<!tile.ptr<f32>>|!tile.ptr<index>|!tile.ptr<tensor<4xf32>>
!tile.block_ptr<16xf32>|!tile.block_ptr<16x40xi32>|!tile.block_ptr<0xf32>|!tile.block_ptr<f32>
!tile.block_ptr<4294967296x4294967296xf32>|!tile.block_ptr<16xf8E4M3FN>|!tile.block_ptr<16x!tile.ptr<f32>>
() -> ()|!tile.nonsense
""".replace("\n", "|").strip("|").split("|")

OPERATION = re.compile(
    r'^(?P<indent> *)(?:(?P<results>%[\w:, %]+?) = )?"(?P<name>[\w.]+)"'
    r"\((?P<operands>[^)]*)\)(?: <\{(?P<properties>.*?)\}>)?"
    r"(?P<open> \(\{)?(?: : (?P<signature>.*))?$"
)
CLOSING = re.compile(r"^(?P<indent> *)\}\)(?P<attributes> \{.*\})? : (?P<signature>.*)$")
LABEL = re.compile(r"^(?P<indent> *)\^(?P<name>\w+)(?:\((?P<arguments>.*)\))?:$")


def split_list(text):
    """Splits at the commas that are within no bracket and no string."""
    parts, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        elif quoted or (c == ">" and text[i - 1] == "-"):
            continue
        elif c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        elif c == "," and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    tail = text[start:].strip()
    return parts + [tail] if tail else parts


def split_signature(text):
    depth = 0
    for i, c in enumerate(text):
        if c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if not depth:
                break
    operands, results = text[1:i], text[i + 1 :].strip()[2:].strip()
    if results.startswith("(") and "->" not in results:
        results = results[1:-1]
    return split_list(operands), split_list(results)


class Line:
    """One line of a module in generic form, as far as mutation has to know it."""

    def __init__(self, text):
        self.text, self.kind, self.drop = text, "text", False
        match = OPERATION.match(text)
        if match:
            self.kind = "op"
            self.indent, self.name = match["indent"], match["name"]
            self.results = []  # names with their count, as in "%2:2"
            for name in split_list(match["results"] or ""):
                base, _, count = name.partition(":")
                many = int(count or 1)
                self.results += [f"{base}#{i}" if count else base for i in range(many)]
            self.result_text = match["results"]
            self.operands = split_list(match["operands"])
            self.has_properties = match["properties"] is not None
            self.properties = split_list(match["properties"] or "")
            self.open = bool(match["open"])
            self.discardable = ""
            if match["signature"]:
                self.operand_types, self.result_types = split_signature(match["signature"])
            return
        match = CLOSING.match(text)
        if match:
            self.kind, self.indent = "closing", match["indent"]
            self.attributes = match["attributes"] or ""
            self.signature = match["signature"]
            return
        match = LABEL.match(text)
        if match:
            self.kind, self.indent, self.name = "label", match["indent"], match["name"]
            self.arguments = []
            for argument in split_list(match["arguments"] or ""):
                name, _, type_ = argument.partition(": ")
                self.arguments.append([name, type_])


class Module:
    def __init__(self, text):
        self.lines = [Line(line) for line in text.strip("\n").split("\n")]
        stack = []
        for line in self.lines:
            if line.kind == "op" and line.open:
                stack.append(line)
            elif line.kind == "closing":
                line.opener = opener = stack.pop()
                opener.operand_types, opener.result_types = split_signature(line.signature)

    def __str__(self):
        return "\n".join(self.print_line(line) for line in self.lines if not line.drop)

    @staticmethod
    def print_signature(op):
        results = ", ".join(op.result_types)
        return f"({', '.join(op.operand_types)}) -> ({results})"

    def print_line(self, line):
        if line.kind == "op":
            text = line.indent
            if line.results and line.result_types:
                text += f"{line.result_text} = "
            text += f'"{line.name}"({", ".join(line.operands)})'
            if line.has_properties:
                text += f" <{{{', '.join(line.properties)}}}>"
            if line.open:
                return text + " ({"
            return text + f"{line.discardable} : {self.print_signature(line)}"
        if line.kind == "closing":
            return f"{line.indent}}}){line.attributes} : {self.print_signature(line.opener)}"
        if line.kind == "label":
            arguments = ", ".join(f"{name}: {type_}" for name, type_ in line.arguments)
            return f"{line.indent}^{line.name}({arguments}):"
        return line.text

    def values(self):
        for line in self.lines:
            if line.kind == "op":
                yield from line.results
            elif line.kind == "label":
                yield from (name for name, _ in line.arguments)

    def retype(self, value, type_):
        """Gives `value` another type wherever it is defined or used."""
        for line in self.lines:
            if line.kind == "op":
                for i, result in enumerate(line.results):
                    if result == value:
                        line.result_types[i] = type_
                for i, operand in enumerate(line.operands):
                    if operand == value:
                        line.operand_types[i] = type_
            elif line.kind == "label":
                for argument in line.arguments:
                    if argument[0] == value:
                        argument[1] = type_


def mutants(text, op_names):
    """Yields (what is changed, function that gives the text) for every mutant of
    a module. The function is to be called before the next mutant is asked for."""
    original = Module(text)

    def changed(change):
        def make():
            module = copy.deepcopy(original)
            change(module)
            return str(module)

        return make

    yield "nothing", lambda: str(original)
    for value in dict.fromkeys(original.values()):
        for type_ in TYPES:
            yield f"{value} : {type_}", changed(lambda m: m.retype(value, type_))
    for n, line in enumerate(original.lines):
        if line.kind == "op" and line.name != "builtin.module":
            name = line.name
            for i, entry in enumerate(line.properties):
                key = entry.partition(" =")[0]
                yield f"{name}: no {key}", changed(lambda m: m.lines[n].properties.pop(i))
                for value in ATTRIBUTES:

                    def replace(m):
                        m.lines[n].properties[i] = f"{key} = {value}"

                    yield f"{name}: {key} = {value}", changed(replace)
            yield f"{name}: no properties", changed(
                lambda m: (m.lines[n].properties.clear(), setattr(m.lines[n], "has_properties", False))
            )
            yield f"{name}: empty properties", changed(lambda m: m.lines[n].properties.clear())
            for extra in ["extra = 1 : i32", "axis = -1 : i32", "operandSegmentSizes = array<i32: 9>",
                          "in_bounds = array<i1: true>", "min = \"x\"", "order = array<i32: 3>",
                          "arg_attrs = [{}]", "arg_attrs = []", "res_attrs = [{}]", "reverse"]:
                yield f"{name}: + {extra}", changed(lambda m: m.lines[n].properties.append(extra))
                if not line.open:
                    yield f"{name}: discardable {extra}", changed(
                        lambda m: setattr(m.lines[n], "discardable", f" {{{extra}}}"))
            for i in range(len(line.operands)):
                yield f"{name}: operand {i} dropped", changed(
                    lambda m: (m.lines[n].operands.pop(i), m.lines[n].operand_types.pop(i)))
                yield f"{name}: operand {i} doubled", changed(
                    lambda m: (m.lines[n].operands.insert(i, line.operands[i]),
                               m.lines[n].operand_types.insert(i, line.operand_types[i])))
                if i:
                    yield f"{name}: operands {i - 1} and {i} swapped", changed(
                        lambda m: [exchange(l, i) for l in (m.lines[n].operands, m.lines[n].operand_types)])
            yield f"{name}: no operands", changed(
                lambda m: (m.lines[n].operands.clear(), m.lines[n].operand_types.clear()))
            yield f"{name}: no results", changed(lambda m: m.lines[n].result_types.clear())

            def one_more_result(m):
                l = m.lines[n]
                l.result_types.append("f32")
                base = f"%extra{n}"
                l.result_text = f"{l.result_text}, {base}" if l.result_text else base
                l.results = l.results + [base]

            yield f"{name}: one more result", changed(one_more_result)
            if not line.open:
                yield f"{name}: dropped", changed(lambda m: setattr(m.lines[n], "drop", True))
                yield f"{name}: doubled", changed(lambda m: m.lines.insert(n, copy.deepcopy(m.lines[n])))

                def with_region(m):
                    m.lines[n].discardable = " ({\n})"

                yield f"{name}: empty region", changed(with_region)
            for other in op_names:
                if other != name:
                    yield f"{name}: renamed {other}", changed(lambda m: setattr(m.lines[n], "name", other))
        elif line.kind == "label":
            for i in range(len(line.arguments)):
                yield f"block argument {i} dropped", changed(lambda m: m.lines[n].arguments.pop(i))
            yield "no block arguments", changed(lambda m: m.lines[n].arguments.clear())
            yield "one more block argument", changed(
                lambda m: m.lines[n].arguments.append(["%more", "f32"]))
        elif line.kind == "closing":
            yield "two blocks", changed(
                lambda m: m.lines.insert(n, Line('^extra:\n"tile.return"() : () -> ()')))
            yield "one more region", changed(
                lambda m: m.lines.insert(n, Line("}, {")))
            start = original.lines.index(line.opener)

            def empty(m):
                for inner in m.lines[start + 1 : n]:
                    inner.drop = True

            yield "empty region", changed(empty)

            def empty_block(m):
                empty(m)
                m.lines.insert(n, Line("^bb0:"))

            yield "empty block", changed(empty_block)

            def nest(m):
                inner = "\n".join(m.print_line(l) for l in m.lines[start : n + 1])
                m.lines.insert(start + 1, Line(inner))

            yield "nested in itself", changed(nest)

            def twice(m):
                m.lines.insert(start, Line("\n".join(m.print_line(l) for l in m.lines[start : n + 1])))

            yield "twice", changed(twice)


def exchange(items, i):
    items[i - 1], items[i] = items[i], items[i - 1]


class Runner:
    def __init__(self, fa_opt, passes):
        self.command = [fa_opt, "-", "--split-input-file", *passes]

    def run(self, texts):
        return subprocess.run(
            self.command, input=SPLIT.join(texts), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, timeout=300, check=False)

    def failures(self, batch):
        """The mutants of `batch` that end the process by a signal."""
        result = self.run([text for _, text in batch])
        if 0 <= result.returncode < 128:
            # Errors of a rejected mutant have to say where: "<stdin>:3:5: error:".
            if re.search(r"^(?!<stdin>:\d+:\d+: )\S*:? ?error: ", result.stderr, re.M) or (
                    result.returncode and " error: " not in result.stderr):
                return self.narrow(batch, "no position or no error", result.stderr)
            return []
        return self.narrow(batch, f"exit {result.returncode}", result.stderr)

    def narrow(self, batch, why, stderr):
        if len(batch) == 1:
            return [(*batch[0], why, stderr)]
        half = len(batch) // 2
        return self.failures(batch[:half]) + self.failures(batch[half:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fa-opt", default=str(ROOT / "build/dev/bin/fa-opt"))
    parser.add_argument("--stride", type=int, default=1, help="take every Nth mutant")
    parser.add_argument("--offset", type=int, default=0, help="the first to take")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--passes", nargs="*", default=["--canonicalize"])
    parser.add_argument("--list", action="store_true", help="print the mutants, do not run them")
    parser.add_argument("files", nargs="+", help=".td and .md files with ```mlir examples, .mlir files")
    args = parser.parse_args()

    documents = [file for file in args.files if not file.endswith(".mlir")]
    examples = subprocess.run(
        [sys.executable, str(ROOT / "scripts/extract-examples"), *documents],
        capture_output=True, text=True, check=True).stdout
    for file in args.files:
        if file.endswith(".mlir"):
            examples += SPLIT + pathlib.Path(file).read_text(encoding="utf-8")
    generic = subprocess.run(
        [args.fa_opt, "-", "--split-input-file", "--mlir-print-op-generic"],
        input=examples, capture_output=True, text=True, check=True).stdout
    modules = [m for m in generic.split(SPLIT) if '"tile.' in m]
    op_names = sorted(set(re.findall(r'"(tile\.\w+)"', generic)))
    if not modules:
        sys.exit("expected examples in the given files, but found none")

    every = itertools.chain.from_iterable(mutants(module, op_names) for module in modules)
    unique, total = dict(), 0
    for total, (what, make) in enumerate(every, 1):
        if (total - 1) % args.stride == args.offset % args.stride:
            unique.setdefault(make(), what)
    chosen = [(what, text) for text, what in unique.items()]
    if args.list:
        print(SPLIT.join(f"// {what}\n{text}" for what, text in chosen))
        return

    runner = Runner(args.fa_opt, args.passes)
    batches = [chosen[i : i + 200] for i in range(0, len(chosen), 200)]
    found = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for failures in pool.map(runner.failures, batches):
            found += failures
    for what, text, why, stderr in found:
        print(f"==== {what}: {why}\n{text}\n{stderr[-600:]}")
    print(f"{len(chosen)} of {total} mutants of {len(modules)} modules, {len(op_names)} operations: "
          f"{len(found)} failures")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
