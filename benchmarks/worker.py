"""The child process of one contender: ``turns.py`` starts it, writes seconds to it, and reads what each round counted."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any


def main() -> None:
    """Gets ready, says so, and plays a round for each line of the standard input."""
    task = json.loads(sys.argv[1])
    if task["cores"]:
        os.sched_setaffinity(0, task["cores"])  # before any library counts the cores
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not get in between

    def say(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    try:
        play_round, facts = importlib.import_module(task["module"]).start(task["name"], task["settings"])
    except ImportError as error:
        say({"missing": f'{error}; `pip install -c constraints.txt -e ".[bench,train]"` installs all that is measured'})
        return
    except Exception as error:  # a foreign library may fail to load in any way
        lines = str(error).splitlines()
        say({"missing": f"{type(error).__name__}: {lines[0] if lines else ''}"})
        return
    say({"facts": facts})
    try:
        for line in sys.stdin:
            say(play_round(float(line)))
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
