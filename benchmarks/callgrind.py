"""Counting instructions with Valgrind's callgrind, from the first to the last instruction of a call and no others.

callgrind takes orders from the program that it runs, by a sequence of instructions that does nothing on a bare processor
(valgrind.h, "client requests"). Python cannot write it, so it is put into a page of memory as machine code. Counting starts and
stops by such orders; whatever runs outside (starting Python, loading compiled code) is neither counted nor slowed down much.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.turns import ROOT

#: x86-64: the address of six words is the argument; valgrind.h's sequence follows; the answer is what valgrind put into rdx.
_CODE = bytes.fromhex(
    "4889f8"  # mov rax, rdi
    "31d2"  # xor edx, edx
    "48c1c703 48c1c70d 48c1c73d 48c1c733"  # rol rdi, 3; 13; 61; 51: once around
    "4887db"  # xchg rbx, rbx
    "4889d0"  # mov rax, rdx
    "c3"  # ret
)
#: Requests of callgrind.h: the tool's letters, and a number.
_ZERO, _DUMP_AT, _START, _STOP = (0x43540000 + number for number in (1, 3, 4, 5))


class Counter:
    """Gives orders to callgrind; harmless where the program does not run under it."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._page.write(_CODE)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self._call = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)

    def count(self, name: str, work: Callable[[], object]) -> None:
        """Counts the instructions of ``work()`` under a name."""
        text = ctypes.c_char_p(name.encode())
        self._request(_START)
        self._request(_ZERO)
        work()
        self._request(_DUMP_AT, ctypes.cast(text, ctypes.c_void_p).value or 0)
        self._request(_STOP)

    def _request(self, number: int, argument: int = 0) -> None:
        words = (ctypes.c_uint64 * 6)(number, argument)
        self._call(ctypes.cast(words, ctypes.c_void_p))


def why_not() -> str:
    """Why instructions cannot be counted here; empty if they can."""
    if platform.machine() not in ("x86_64", "AMD64") or not sys.platform.startswith("linux"):
        return f"instructions are counted on Linux on x86-64 only, this is {sys.platform} on {platform.machine()}"
    if shutil.which("valgrind") is None:
        return "valgrind is not there, so no instructions are counted (on Debian: apt-get install valgrind)"
    return ""


def counts(module: str, arguments: Sequence[str]) -> dict[str, int]:
    """Runs a module twice, bare to fill the cache of compiled code, then under callgrind; instructions by name.

    Code is compiled for a Haswell, since Valgrind does not know the latest instructions.
    """
    environment = os.environ | {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": ""}
    command = [sys.executable, "-m", module, *arguments]
    subprocess.run(command, check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/out"]
        subprocess.run(
            [*valgrind, *command], check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        texts = [path.read_text(errors="replace") for path in Path(folder).iterdir()]
    found = {}
    for text in texts:
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
        total = re.search(r"^summary: (\d+)$", text, re.MULTILINE)
        if name and total:
            found[name[1]] = int(total[1])
    return found
