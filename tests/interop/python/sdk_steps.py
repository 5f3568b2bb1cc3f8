"""How the scripts that run the public SDK are driven: one JSON object per line.

A test writes a step to standard input, {"step": NAME, ...arguments}, and reads its outcome under the
same name: what the step returned, or what it raised. What comes without a step, such as a notification,
goes out as {"event": NAME, ...} when it happens. The first line says which SDK runs.
"""

import asyncio
import json
import os
import sys
from importlib.metadata import version


def say(**line):
    # One write, so that lines of several threads stay whole.
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def happened(event, **what):
    say(event=event, **what)


def outcome_of(error):
    """What an exception of the SDK tells its caller, with the attributes that are plain data."""
    fields = {}
    for name, value in vars(error).items():
        try:
            json.dumps(value)
        except TypeError:
            continue
        fields[name] = value
    return {"raised": type(error).__name__, "message": str(error), "fields": fields}


async def run_steps(role, **greeting):
    """Takes steps, each a method of `role`, until the test is gone."""
    say(step="ready", sdk=version("a2c-smcp"), **greeting)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        arguments = json.loads(line)
        step = arguments.pop("step")
        try:
            outcome = await getattr(role, step)(**arguments)
        except Exception as error:  # noqa: BLE001: whatever it is, the test judges it
            outcome = outcome_of(error)
        say(step=step, **(outcome or {}))
    os._exit(0)
