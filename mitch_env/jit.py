"""The one door to numba.

``@rule`` marks a function of the rules: plain Python when Python calls it, compiled when a kernel calls it.
``kernel`` compiles a loop over tables, once, for explicit types, and keeps the result on disk.

Two things numba does not do by itself are done here. Its cache does not notice that a *called* function in another file
was edited, so the cache folder is named after a hash of all sources that can be compiled into it. And it says nothing
while it compiles for seconds, so the first use does.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core import config as numba_config
from numba.extending import intrinsic, overload, register_jitable

from .crew import finish

#: numba's settings; read when used, since a caller may change them.
config: Any = numba_config

F = TypeVar("F", bound=Callable[..., Any])

#: Folders of compiled code that are kept: one for each recent state of the sources.
_CACHES_KEPT = 6
#: For what only compiled code can do at once; and for what is loaded once.
_ONE_AT_A_TIME, _LOADING = threading.Lock(), threading.Lock()
#: How often a thread looks for what it waits for before it lets others run.
_SPINS = 1000
#: Bytes of a cache line.
_LINE = 64
#: Fields of more bytes are orders of cards, of which a step reads an entry or two.
_LONG = 250


def rule(function: F) -> F:
    """Marks a function of the rules: Python runs it as it is, kernels compile it."""
    marked: F = register_jitable(function)
    return marked


def wrapping_rule(function: F) -> F:
    """Like :func:`rule`, for 64-bit arithmetic that is meant to wrap around: plain Python does not warn of it."""

    @functools.wraps(function)
    def plain(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    @overload(plain, strict=False)
    def compiled(*args: Any) -> Any:
        return function

    return plain  # type: ignore[return-value]


def lines_to_fetch(record: Any) -> list[int]:
    """The cache lines of a table, counted from its begin, on which something else lies than the inner part of a long field."""
    lines: set[int] = set()
    for field in record.fields.values():
        begin, size = field.offset, np.dtype(str(getattr(field.type, "dtype", field.type))).itemsize
        for length in getattr(field.type, "shape", ()):
            size *= length
        if size <= _LONG:
            lines.update(range(begin // _LINE, (begin + size - 1) // _LINE + 1))
    return sorted(lines)


@intrinsic
def _prefetch(typingctx: Any, tables: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir

        byte, word, long = ir.IntType(8).as_pointer(), ir.IntType(32), ir.IntType(64)
        record = signature.args[0].dtype
        data = builder.bitcast(context.make_array(signature.args[0])(context, builder, args[0]).data, byte)
        table = builder.gep(data, [builder.mul(args[1], long(record.size))])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, *[word] * 3]))
        for line in lines_to_fetch(record):
            # For a write, into the nearest cache; it is data.
            builder.call(fetch, [builder.gep(table, [long(line * _LINE)]), word(1), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(tables, types.int64), codegen


def prefetch(tables: np.ndarray, i: int) -> None:
    """Has the processor fetch the table ``i`` while it works on another one: all but its long fields.

    Many tables do not fit into the nearest caches, and what a step reads of each is scattered, so that it would wait.
    """


@overload(prefetch, strict=False)
def _prefetch_table(tables: Any, i: Any) -> Any:
    return lambda tables, i: _prefetch(tables, i)  # type: ignore[call-arg]


@intrinsic
def _load(typingctx: Any, flags: Any, i: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.load_atomic(builder.gep(data, [args[1]]), "acquire", 8)

    return types.int64(flags, types.int64), codegen


@intrinsic
def _store(typingctx: Any, flags: Any, i: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        builder.store_atomic(args[2], builder.gep(data, [args[1]]), "release", 8)
        return context.get_dummy_value()

    return types.void(flags, types.int64, types.int64), codegen


@intrinsic
def _add(typingctx: Any, flags: Any, i: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("add", builder.gep(data, [args[1]]), args[2], "monotonic")

    return types.int64(flags, types.int64, types.int64), codegen


def load_flag(flags: np.ndarray, i: int) -> int:
    """``flags[i]`` (int64), which another thread may be writing: what it wrote before is there as well."""
    return int(flags[i])


def store_flag(flags: np.ndarray, i: int, value: int) -> None:
    """``flags[i] = value`` (int64), for threads that wait for it with :func:`load_flag`."""
    flags[i] = value


def add_to_flag(flags: np.ndarray, i: int, value: int) -> int:
    """``flags[i] += value`` (int64), which several threads may do at once; returns what stood there before."""
    with _ONE_AT_A_TIME:
        before = int(flags[i])
        flags[i] = before + value
    return before


def give_way(waited: int) -> None:
    """For a thread that waits for another one, and has looked ``waited`` times: lets it run if there are too few processors."""
    time.sleep(0)  # in Python the other one needs the interpreter


@intrinsic
def _yield_processor(typingctx: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        from llvmlite import ir

        if hasattr(os, "sched_yield"):  # a system that has it in its C library
            signature = ir.FunctionType(ir.IntType(32), [])
            builder.call(cgutils.get_or_insert_function(builder.module, signature, "sched_yield"), [])  # type: ignore[no-untyped-call]
        return context.get_dummy_value()

    return types.void(), codegen


@overload(give_way, strict=False)
def _give_way(waited: Any) -> Any:
    def compiled(waited):  # type: ignore[no-untyped-def]
        if waited > _SPINS:
            _yield_processor()  # type: ignore[call-arg]

    return compiled


@overload(load_flag, strict=False)
def _load_flag(flags: Any, i: Any) -> Any:
    return lambda flags, i: _load(flags, i)  # type: ignore[call-arg]


@overload(store_flag, strict=False)
def _store_flag(flags: Any, i: Any, value: Any) -> Any:
    return lambda flags, i, value: _store(flags, i, value)  # type: ignore[call-arg]


@overload(add_to_flag, strict=False)
def _add_to_flag(flags: Any, i: Any, value: Any) -> Any:
    return lambda flags, i, value: _add(flags, i, value)  # type: ignore[call-arg]


_DTYPES: dict[np.dtype, np.dtype] = {}


def kernel_view(tables: np.ndarray) -> np.ndarray:
    """The same tables as kernels take them.

    A plain structured array is passed on several times faster than a ``np.recarray``; with ``NUMBA_DISABLE_JIT=1``
    kernels are Python and need the attributes of the latter. All views of one kind of table have the very same dtype object:
    numba knows a type at once by its object, and compares an equal one field by field at each call.
    """
    if config.DISABLE_JIT:
        return tables.view(np.recarray)
    plain = tables.view(np.ndarray)
    return plain.view(_DTYPES.setdefault(plain.dtype, plain.dtype))


@functools.cache
def _sources_hash(package: str) -> str:
    digest = hashlib.sha256()
    spec = importlib.util.find_spec(package)
    roots = list(spec.submodule_search_locations or []) if spec else []
    files = [path for root in roots for path in Path(root).rglob("*.py")]
    if spec and spec.origin and not roots:
        files = [Path(spec.origin)]
    for path in sorted(files):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def cache_folder(package: str = "mitch_env") -> Path:
    """Where code compiled for ``package`` is kept: under ``MITCH_ENV_CACHE``, else the user's cache folder."""
    base = os.environ.get("MITCH_ENV_CACHE")
    if base is None:
        base = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "mitch_env")
    key = hashlib.sha256()
    for name in sorted({"mitch_env", package}):
        key.update(_sources_hash(name).encode())
    # The same sources compile to other code under another numba, or with bounds checks; numba also keeps the path.
    where = Path(__file__).parent
    key.update(f"{where} {sys.version} {numba.__version__} {np.__version__} {config.BOUNDSCHECK} {config.OPT}".encode())
    return Path(base) / f"{package}-{key.hexdigest()[:16]}"


@functools.cache
def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _forget_old_caches(folder: Path) -> None:
    package = folder.name.rpartition("-")[0]
    siblings = sorted(folder.parent.glob(f"{package}-*"), key=lambda path: path.stat().st_mtime)
    for stale in siblings[:-_CACHES_KEPT]:
        shutil.rmtree(stale, ignore_errors=True)


@contextmanager
def _numba_cache_in(folder: Path) -> Iterator[None]:
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


@functools.cache
def _say_once(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _settings() -> dict[str, Any]:
    """How kernels are compiled.

    They allocate nothing, so numba need not count references to arrays (which would take atomic instructions at every call of a
    rule; a kernel that did allocate would not compile). Rules are inlined, so that a kernel sees all of a step at once. And a
    division by 0 is not looked for, except in a checked run: the test alone would keep loops from becoming vector instructions.
    """
    return {"nogil": True, "_nrt": False, "forceinline": True, "error_model": "python" if config.BOUNDSCHECK else "numpy"}


def _apart(make: Callable[[], F]) -> F:
    """Calls something of the compiler in a thread of its own, where no signal comes: it is not made for being interrupted.

    At a bad moment other threads waited for its locks for ever, or memory was freed twice. Ctrl-C is raised when it has ended.
    """
    if threading.current_thread() is not threading.main_thread() or sys.is_finalizing():
        return make()
    made: list[F] = []
    failed: list[BaseException] = []
    ended: SimpleQueue[None] = SimpleQueue()

    def work() -> None:
        try:
            made.append(make())
        except BaseException as error:
            failed.append(error)
        ended.put(None)

    start_new_thread(work, ())
    try:
        ended.get()
    except BaseException:
        finish(lambda: made or failed or ended.get())
        raise
    if failed:
        raise failed[0]
    return made[0]


def _load_numba() -> None:
    """Has numba load what every kernel needs, but not SciPy's linear algebra.

    numba imports that, where SciPy is installed, only to see whether it is there: a sixth of the time to a first step. It does
    so again when it compiles a function that needs it, and may believe until then that it is there.
    """
    with _LOADING:
        if "numba.np.arraymath" in sys.modules:
            return
        from numba.np import linalg

        ensure_blas = getattr(linalg, "ensure_blas", None)
        if ensure_blas is None:  # a numba that does it in another way
            return
        linalg.ensure_blas = _find_scipy
        try:
            importlib.import_module("numba.np.arraymath")  # which calls it
        finally:
            linalg.ensure_blas = ensure_blas


def _find_scipy() -> None:
    try:
        is_there = importlib.util.find_spec("scipy") is not None
    except ValueError:  # something that only has its name
        is_there = False
    if not is_there:
        raise ImportError("SciPy is not installed")


def kernel(function: F, signature: Any, what: str) -> F:
    """Compiles ``function`` for one signature, or takes it from the cache.

    Args:
        function: A loop over tables, made in a factory that closes over ``@rule`` functions (numba caches such closures
            across processes; closures over compiled functions it does not).
        signature: The numba types of the arguments.
        what: A name for the kernel, unique in its package. The first time it is compiled, a message on stderr says so.
    """
    if config.DISABLE_JIT:
        return function
    package = function.__module__.partition(".")[0]
    folder = cache_folder(package)
    marker = folder / f"{what.replace(' ', '-')}.ready"
    is_first = not marker.exists()
    if not _is_writable(folder):
        _say_once(
            f"mitch_env: compiling the rules for this machine: some seconds at every start, since {folder} cannot be written; "
            "set MITCH_ENV_CACHE to a folder that can"
        )

        # numba would put the code beside the sources, where it does not notice that a called function was edited.
        def uncached() -> F:
            _load_numba()
            made: F = numba.njit(signature, **_settings())(function)
            return made

        return _apart(uncached)
    if is_first:
        _say_once(
            "mitch_env: compiling the rules for this machine, each part when it is first used "
            "(10 to 20 s for a game's environment, as long for its batch); "
            f"later starts take it from {folder}"
        )

    def compiled() -> F:
        _load_numba()
        with _numba_cache_in(folder):
            made: F = numba.njit(signature, cache=True, **_settings())(function)
        if is_first:
            marker.touch()
            _forget_old_caches(folder)
        return made

    return _apart(compiled)


def direct(compiled: Any) -> Any:
    """A kernel as it was compiled, without numba's look at the types of the arguments, which takes as long as a small kernel.

    The arguments must be exactly what the kernel was compiled for: nothing checks them.
    """
    return compiled if config.DISABLE_JIT else compiled.overloads[compiled.signatures[0]].entry_point


# Read now, so that what is compiled later counts as made from the sources as they were imported.
_sources_hash("mitch_env")
