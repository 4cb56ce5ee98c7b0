#!/usr/bin/env python3
"""Writes the golden cases of this folder: manifest.json and the .npy files.

Needs numpy. The results are computed here in double precision from the
definition of attention, independently of every line of C++ in this repository,
and stored in float32. Running it again gives the same bytes (numpy >= 1.17).

    python3 tests/data/golden/generate.py
"""

import json
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent

# name, dtype, batch, heads_q, heads_kv, seq_q, seq_k, head_dim, causal, what
# makes it worth keeping.
CASES = [
    ("tiny_f32", "float32", 1, 1, 1, 4, 4, 8, False, {}),
    ("one_key_f16", "float16", 2, 1, 1, 1, 1, 8, True, {}),
    ("ragged_f16", "float16", 2, 2, 2, 19, 19, 16, False, {}),
    ("ragged_causal_bf16", "bfloat16", 1, 3, 3, 33, 33, 16, True, {}),
    ("more_keys_causal_f16", "float16", 1, 2, 2, 7, 21, 24, True, {}),
    # Rows 0..11 see no key: o = 0, lse = -inf, dq = 0.
    ("masked_rows_bf16", "bfloat16", 1, 2, 2, 21, 9, 16, True, {}),
    ("masked_rows_f32", "float32", 1, 1, 1, 5, 2, 16, True, {}),
    ("gqa_causal_bf16", "bfloat16", 1, 6, 2, 17, 17, 16, True, {}),
    ("one_query_gqa_f16", "float16", 1, 3, 1, 1, 40, 16, False, {}),
    ("top_left_f32", "float32", 1, 1, 1, 6, 11, 8, True, {"alignment": "top-left"}),
    ("negative_scale_f32", "float32", 1, 1, 1, 13, 13, 16, True, {"scale": -0.25}),
    ("zero_scale_f16", "float16", 1, 1, 1, 9, 9, 16, True, {"scale": 0.0}),
    ("large_logits_bf16", "bfloat16", 1, 1, 1, 24, 24, 32, True, {"spread": 8.0}),
    # Keys and values of a large mean: dq is a small difference of large terms.
    ("offset_mean_bf16", "bfloat16", 1, 1, 1, 32, 32, 16, False, {"k_mean": 3.0, "v_mean": 5.0}),
]


def round_to(values, dtype):
    """Values of `dtype`, as float32."""
    single = values.astype(np.float32)
    if dtype == "float16":
        return single.astype(np.float16).astype(np.float32)
    if dtype == "bfloat16":  # to nearest even; the values are finite
        bits = single.view(np.uint32)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
        return bits.astype(np.uint32).view(np.float32)
    return single


def attention(q, k, v, do, scale, causal, alignment):
    """o, lse and the gradients of sum(o * do), in double precision."""
    group = q.shape[1] // k.shape[1]
    q, k, v, do = (x.astype(np.float64) for x in (q, k, v, do))
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    n, m = q.shape[2], k.shape[2]
    shift = m - n if alignment == "bottom-right" else 0
    sees = np.ones((n, m), bool)
    if causal:
        sees = np.arange(m)[None, :] <= np.arange(n)[:, None] + shift

    s = np.where(sees, scale * (q @ k.swapaxes(-1, -2)), -np.inf)
    top = s.max(-1, keepdims=True)
    e = np.where(sees, np.exp(s - np.where(np.isfinite(top), top, 0)), 0)
    total = e.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (top + np.log(total))[..., 0]
    p = e / np.where(total == 0, 1, total)
    o = p @ v

    dp = do @ v.swapaxes(-1, -2)
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    dq = scale * (ds @ k)
    dk = scale * (ds.swapaxes(-1, -2) @ q)
    dv = p.swapaxes(-1, -2) @ do
    b, heads, _, d = dk.shape
    dk, dv = (x.reshape(b, heads // group, group, m, d).sum(2) for x in (dk, dv))
    return {"o": o, "lse": lse, "dq": dq, "dk": dk, "dv": dv}


def main():
    manifest = []
    for seed, (name, dtype, b, hq, hkv, n, m, d, causal, extra) in enumerate(CASES):
        scale = extra.get("scale", 1 / d**0.5)
        alignment = extra.get("alignment", "bottom-right")
        spread = extra.get("spread", 1.0)
        generator = np.random.Generator(np.random.PCG64(seed))
        normal = lambda h, length: generator.standard_normal((b, h, length, d))
        arrays = {
            "q": round_to(spread * normal(hq, n), dtype),
            "k": round_to(normal(hkv, m) + extra.get("k_mean", 0), dtype),
            "v": round_to(normal(hkv, m) + extra.get("v_mean", 0), dtype),
            "do": round_to(normal(hq, n), dtype),
        }
        arrays.update(attention(*arrays.values(), scale, causal, alignment))
        for suffix, values in arrays.items():
            values = np.ascontiguousarray(values, np.float32)
            np.save(FOLDER / f"{name}.{suffix}.npy", values)
        manifest.append({
            "name": name, "dtype": dtype, "batch": b, "heads_q": hq,
            "heads_kv": hkv, "seq_q": n, "seq_k": m, "head_dim": d,
            "causal": causal, "scale": scale, "layout": "b h n d",
            "causal_alignment": alignment,
        })
    text = json.dumps(manifest, indent=1)
    (FOLDER / "manifest.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
