"""Sets of up to 64 things as the bits of a word: counted, found, read from a row of counts, written out as a vector.

Each is plain Python, and for kernels the few instructions that processors have for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

#: So many entries are read or written by one instruction.
_LANES = 16


def popcount(x: np.uint64) -> int:
    """The number of bits set in ``x``."""
    return int(x).bit_count()


def lowest_bit(x: np.uint64) -> int:
    """The index of the lowest bit set in ``x``, which must not be 0."""
    word = int(x)
    return (word & -word).bit_length() - 1


def nonzero(row: np.ndarray, n: int) -> np.uint64:
    """The set of the indices below ``n`` (16 to 64) at which ``row``, contiguous uint8, is not 0."""
    return np.uint64(sum(1 << i for i in range(n) if row[i] != 0))


def expand(cards: np.uint64, out: np.ndarray, start: int, n: int) -> int:
    """Writes the lowest ``n`` bits of ``cards`` to ``out[start:start + n]``; returns where the next block starts.

    ``out`` is contiguous, and float32 (observations) or 8 bits wide (masks).
    """
    word = int(cards)
    for i in range(n):
        out[start + i] = word >> i & 1
    return start + n


# --- The same for kernels.


@intrinsic
def _ctpop(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _cttz(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir

        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), codegen


def _lanes_at(context: Any, builder: Any, array_type: Any, array: Any, start: Any, lanes: Any) -> Any:
    """A pointer to some entries of an array, as one vector."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [start]), lanes.as_pointer())


@intrinsic
def _read_lanes(typingctx: Any, row: Any, start: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir

        lanes = ir.VectorType(ir.IntType(8), _LANES)
        entries = builder.load(_lanes_at(context, builder, signature.args[0], args[0], args[1], lanes), align=1)
        differ = builder.icmp_unsigned("!=", entries, ir.Constant(lanes, None))
        return builder.zext(builder.bitcast(differ, ir.IntType(_LANES)), ir.IntType(64))

    return types.uint64(row, types.int64), codegen


@intrinsic
def _write_lanes(typingctx: Any, bits: Any, out: Any, start: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir

        entry = context.get_data_type(signature.args[1].dtype)
        lanes = ir.VectorType(entry, _LANES)
        flags = builder.bitcast(builder.trunc(args[0], ir.IntType(_LANES)), ir.VectorType(ir.IntType(1), _LANES))
        values = builder.uitofp(flags, lanes) if isinstance(entry, ir.FloatType) else builder.zext(flags, lanes)
        builder.store(values, _lanes_at(context, builder, signature.args[1], args[1], args[2], lanes), align=1)
        return context.get_dummy_value()

    return types.void(types.uint64, out, types.int64), codegen


#: As kernels call them: without the first argument, which numba adds.
read_lanes: Any = _read_lanes
write_lanes: Any = _write_lanes


@overload(popcount, strict=False)
def _popcount(x: Any) -> Any:
    return lambda x: _ctpop(np.uint64(x))  # type: ignore[call-arg]


@overload(lowest_bit, strict=False)
def _lowest_bit(x: Any) -> Any:
    return lambda x: _cttz(np.uint64(x))  # type: ignore[call-arg]


@overload(nonzero, strict=False)
def _nonzero(row: Any, n: Any) -> Any:
    def compiled(row: Any, n: Any) -> Any:
        last = n - _LANES  # those that end at n may overlap with those before
        places = read_lanes(row, last) << np.uint64(last)
        for start in range(0, last, _LANES):
            places |= read_lanes(row, start) << np.uint64(start)
        return places

    return compiled


@overload(expand, strict=False)
def _expand(cards: Any, out: Any, start: Any, n: Any) -> Any:
    def compiled(cards: Any, out: Any, start: Any, n: Any) -> Any:
        if n < _LANES:
            row = out[start : start + n]
            for i in range(n):
                row[i] = cards >> np.uint64(i) & np.uint64(1)
        else:
            last = n - _LANES
            for first in range(0, last, _LANES):
                write_lanes(cards >> np.uint64(first), out, start + first)
            write_lanes(cards >> np.uint64(last), out, start + last)
        return start + n

    return compiled
