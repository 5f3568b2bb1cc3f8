"""An MCP server on standard streams that starts relatives who do not want to end. Standard library only.

family.py FILE TRAIT...     one relative for each TRAIT that is not about the server itself; FILE gets a line
                            'TRAIT PID' for each, 'self PID' for the server, and 'ready 0' when all are there

stubborn      ignores SIGHUP, SIGINT and SIGTERM, as all of them do
group         has its own process group
session       has its own session
daemon        has forked twice: its parent is gone
bare          has its own session and no environment
bare-daemon   all of that
fork          starts another of its kind all the time, and ends
deaf          the server itself ignores the signals and the end of its input

The tool 'die' ends the server only. Each relative sleeps for a thousand seconds and keeps the standard streams open.
"""

import json
import os
import signal
import sys
import time

file, traits = sys.argv[1], sys.argv[2:]
SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


def note(name, pid):
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, f"{name} {pid}\n".encode())
    os.close(handle)


def ignore_signals():
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def live(trait):
    ignore_signals()
    if trait == "group":
        os.setpgid(0, 0)
    elif trait != "stubborn":
        os.setsid()
    if trait in ("daemon", "bare-daemon") and os.fork():
        os._exit(0)
    note(trait, os.getpid())
    while trait == "fork":
        time.sleep(0.002)
        if os.fork():
            os._exit(0)
    environment = {} if trait.startswith("bare") else os.environ
    os.execve("/bin/sleep", ["sleep", "1000"], environment)


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


note("self", os.getpid())
if "deaf" in traits:
    ignore_signals()
relatives = [trait for trait in traits if trait != "deaf"]
for trait in relatives:
    if os.fork() == 0:
        live(trait)
while True:
    with open(file) as lines:
        noted = [line.split()[0] for line in lines]
    if all(trait in noted for trait in relatives):
        break
    time.sleep(0.005)
note("ready", 0)

for line in sys.stdin:
    message = json.loads(line)
    method, request, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        info = {"name": "family", "version": "1"}
        send({"id": request, "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}})
    elif method == "tools/list":
        send({"id": request, "result": {"tools": [{"name": "die", "inputSchema": {}}]}})
    elif method == "tools/call":
        os._exit(7)
    elif request is not None:
        send({"id": request, "result": {}})
while "deaf" in traits:
    time.sleep(1000)
