"""Writes the database of mcp-memory-service with the backend sqlite_vec to the file argv[1]."""
import asyncio
import os
import sys

path = sys.argv[1]
os.environ.update(MCP_MEMORY_STORAGE_BACKEND="sqlite_vec", MCP_MEMORY_SQLITE_PATH=path,
                  MCP_MEMORY_BASE_DIR=os.path.dirname(path), HF_HUB_OFFLINE="1", MCP_MEMORY_ALLOW_HASH_EMBEDDINGS="1")

import pysqlite3  # can load the extension for vectors, which not every Python's sqlite3 can

sys.modules["sqlite3"] = pysqlite3

from mcp_memory_service.models.memory import Memory
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
from mcp_memory_service.utils.hashing import generate_content_hash


def note(text, **more):
    return Memory(content=text, content_hash=generate_content_hash(text), **more)


async def main():
    storage = SqliteVecMemoryStorage(path)
    await storage.initialize()
    kettle = note("The kettle leaks", tags=["kitchen", "tea"], memory_type="observation",
                  metadata={"room": "north"}, created_at=1735787045.5)
    notes = [kettle, note("Tea is at four", tags=["tea"], memory_type="decision"), note("Gone tomorrow", tags=["old"])]
    for one in notes:
        print(await storage.store(one))
    print(await storage.delete(notes[2].content_hash))
    print(await storage.update_memory_versioned(notes[1].content_hash, "Tea is at five"))


asyncio.run(main())
