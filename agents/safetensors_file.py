"""Reading ``.safetensors`` files with numpy alone, distrusting every byte.

The format: 8 bytes little-endian length of a JSON header, the header, the data; the header names dtype, shape and the byte
range of each tensor (https://huggingface.co/docs/safetensors, "Format").
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

_LARGEST_HEADER = 1 << 20
_LARGEST_FILE = 1 << 30
_DTYPES: dict[str, np.dtype] = {"F32": np.dtype("<f4"), "F64": np.dtype("<f8"), "I64": np.dtype("<i8")}


class PolicyFileError(ValueError):
    """A policy file is damaged, or is not for what it was asked to do."""


def read_safetensors(path: str | Path) -> tuple[dict[str, np.ndarray], dict[str, str], str]:
    """Tensors, metadata, and the SHA-256 (hex) of the tensor data of a file.

    Raises:
        PolicyFileError: If the file is not what it should be, with what was found.
        OSError: If it cannot be read.
    """
    where = Path(path)
    size = where.stat().st_size
    if not 8 <= size <= _LARGEST_FILE:
        raise PolicyFileError(f"{where}: {size} bytes are no policy: 8 to {_LARGEST_FILE} are allowed")
    content = where.read_bytes()
    length = int.from_bytes(content[:8], "little")
    if length > min(_LARGEST_HEADER, size - 8):
        raise PolicyFileError(f"{where}: the header claims {length} bytes, the file has {size - 8} after its length")
    try:
        header = json.loads(content[8 : 8 + length].decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise PolicyFileError(f"{where}: the header is no JSON: {error}") from None
    if not isinstance(header, dict):
        raise PolicyFileError(f"{where}: the header must be an object, got {type(header).__name__}")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise PolicyFileError(f"{where}: __metadata__ must hold texts")
    data = content[8 + length :]
    tensors = _tensors(where, header, data)
    return tensors, metadata, hashlib.sha256(data).hexdigest()


def _tensors(where: Path, header: dict[str, Any], data: bytes) -> dict[str, np.ndarray]:
    tensors: dict[str, np.ndarray] = {}
    ranges: list[tuple[int, int, str]] = []
    for name, entry in header.items():
        dtype, shape, start, stop = _entry(where, name, entry)
        n_bytes = math.prod(shape) * dtype.itemsize
        if not 0 <= start <= stop <= len(data) or stop - start != n_bytes:
            raise PolicyFileError(
                f"{where}: tensor {name!r} of shape {shape} needs {n_bytes} bytes, "
                f"its range is {start} to {stop} of {len(data)}"
            )
        ranges.append((start, stop, name))
        array = np.frombuffer(data, dtype, math.prod(shape), start).reshape(shape)
        if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            raise PolicyFileError(f"{where}: tensor {name!r} holds numbers that are not finite")
        tensors[name] = array
    end = 0
    for start, stop, name in sorted(ranges):
        if start != end:
            raise PolicyFileError(f"{where}: tensor {name!r} begins at byte {start}, the one before it ends at {end}")
        end = stop
    if end != len(data):
        raise PolicyFileError(f"{where}: {len(data) - end} bytes belong to no tensor")
    return tensors


def _entry(where: Path, name: str, entry: Any) -> tuple[np.dtype, tuple[int, ...], int, int]:
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= set(entry):
        raise PolicyFileError(f"{where}: tensor {name!r} needs dtype, shape and data_offsets")
    if not isinstance(entry["dtype"], str) or entry["dtype"] not in _DTYPES:
        raise PolicyFileError(f"{where}: tensor {name!r} has dtype {entry['dtype']!r}; allowed are {', '.join(_DTYPES)}")
    shape, offsets = entry["shape"], entry["data_offsets"]
    numbers = [*shape, *offsets] if isinstance(shape, list) and isinstance(offsets, list) else [None]
    if not all(type(number) is int and number >= 0 for number in numbers) or len(offsets) != 2 or len(shape) > 4:
        raise PolicyFileError(f"{where}: tensor {name!r} has shape {shape!r:.60} and data_offsets {offsets!r:.60}")
    return _DTYPES[entry["dtype"]], tuple(shape), offsets[0], offsets[1]
