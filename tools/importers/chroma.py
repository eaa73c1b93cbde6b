"""Writes a store of ChromaDB into the folder argv[1], with whatever version of chromadb is installed."""
import sys

import chromadb

client = chromadb.PersistentClient(sys.argv[1])
kitchen = client.create_collection("kitchen", metadata={"topic": "tea"})
kitchen.add(
    ids=["k1", "k2", "k3", "k4"],
    embeddings=[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]],
    documents=["The kettle leaks", "Tea is at four", "Gone tomorrow", "The oven is <hot> & loud"],
    metadatas=[
        {"category": "kitchen", "confidence": 0.5, "shelf": 7, "checked": True, "tags": "tea, pots"},
        {"source": "talk"},
        {"shelf": 1},
        {"added_at": "2025-01-02T03:04:05Z", "related_memories": "k1"},
    ],
)
kitchen.upsert(ids=["k2"], embeddings=[[0.3, 0.4]], documents=["Tea is at five"], metadatas=[{"source": "clock"}])
kitchen.delete(ids=["k3"])
office = client.create_collection("office")
office.add(ids=["0b54d5a3-5a4b-4c53-8a27-111111111111"], embeddings=[[1.0]], documents=["Port 5432 is taken"])
if tuple(int(n) for n in chromadb.__version__.split(".")[:2]) >= (1, 5):  # lists as metadata
    office.add(ids=["list"], embeddings=[[2.0]], documents=["Desks by the window"],
               metadatas=[{"tags": ["desk", "light"], "sizes": [1, 2]}])
