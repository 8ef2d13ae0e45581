"""Speed, measured side by side with peers in one run; machines differ and wander, so only the ratios count."""

from importlib.util import find_spec

if find_spec("tqdm") is None:
    raise ModuleNotFoundError(
        'the benchmarks need the extras bench and train: pip install -c constraints.txt -e ".[train,bench]"', name="tqdm"
    )
