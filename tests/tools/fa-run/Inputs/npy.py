"""Writes and compares small .npy files with the standard library alone.

    npy.py write FILE TYPE SHAPE VALUES [fortran]
    npy.py close FILE FILE LIMIT
    npy.py show FILE

TYPE is f4, f2, f8, i4, i8, u1 or bf16 (bits in uint16). SHAPE is 2,3. VALUES is
randn:SEED, arange or a number. `close` compares elements, whatever their type,
and takes uint16 as bf16; NaN equals NaN. `show` prints type, shape and elements.
"""

import ast
import math
import random
import struct
import sys

CODES = {"f4": "f", "f2": "e", "f8": "d", "i4": "i", "i8": "q", "u1": "B", "u2": "H"}


def to_bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def from_bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def write(path, dtype, shape, values, order="c"):
    shape = [int(extent) for extent in shape.split(",") if extent]
    count = math.prod(shape)
    if values.startswith("randn:"):
        source = random.Random(int(values[6:]))
        data = [source.gauss(0, 1) for _ in range(count)]
    elif values == "arange":
        data = list(range(count))
    else:
        data = [float(values)] * count
    if order == "fortran":
        # Element i of the file is the one whose reversed index counts to i.
        strides, step = [], 1
        for extent in reversed(shape):
            strides.append(step)
            step *= extent
        strides.reverse()
        places = []
        for i in range(count):
            place = 0
            for extent, stride in zip(shape, strides):
                i, digit = divmod(i, extent)
                place += digit * stride
            places.append(place)
        data = [data[place] for place in places]
    if dtype == "bf16":
        dtype, data = "u2", [to_bf16(value) for value in data]
    elif dtype[0] in "iu":
        data = [int(value) for value in data]
    descr = ("|" if dtype[1] == "1" else "<") + dtype
    header = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
        descr,
        order == "fortran",
        "".join("%d," % extent for extent in shape),
    )
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack("<%d%s" % (count, CODES[dtype]), *data))


def read(path):
    with open(path, "rb") as file:
        content = file.read()
    length = struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10 : 10 + length].decode())
    dtype = header["descr"][1:]
    count = math.prod(header["shape"])
    data = struct.unpack("<%d%s" % (count, CODES[dtype]), content[10 + length :])
    return dtype, header["shape"], data


def close(left, right, limit):
    (ltype, lshape, a), (rtype, rshape, b) = read(left), read(right)
    if lshape != rshape:
        sys.exit("shapes %s and %s differ" % (lshape, rshape))
    if ltype == "u2":
        a = [from_bf16(bits) for bits in a]
    if rtype == "u2":
        b = [from_bf16(bits) for bits in b]
    for i, (x, y) in enumerate(zip(a, b)):
        if not (abs(x - y) <= float(limit) or x == y or (x != x and y != y)):
            sys.exit("element %d: %s and %s" % (i, x, y))


def show(path):
    dtype, shape, data = read(path)
    print(dtype, list(shape), *data)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
