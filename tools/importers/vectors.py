"""Writes into the folder argv[1] what LangChain, LlamaIndex and mem0 store: points of Qdrant, and mem0's history."""
import itertools
import json
import os
import sys
import uuid

folder = sys.argv[1]
numbers = itertools.count(1)
uuid.uuid4 = lambda: uuid.UUID(int=next(numbers), version=4)  # so that points come in the order of their making
os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=os.path.join(folder, "mem0"), OPENAI_API_KEY="none")

from langchain_core.embeddings import Embeddings
from langchain_qdrant import QdrantVectorStore
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.vector_stores.qdrant import QdrantVectorStore as LlamaStore
from qdrant_client import QdrantClient, models

client = QdrantClient(":memory:")


class Lengths(Embeddings):
    """An embedding model that needs no download."""

    def embed_documents(self, texts):
        return [[float(len(t)), 1.0] for t in texts]

    def embed_query(self, text):
        return [float(len(text)), 1.0]


def write(collection, name):
    """Writes all pages of a collection, of two points each, as scroll() returns them, one after the other."""
    offset = None
    with open(os.path.join(folder, name), "w") as out:
        while True:
            points, offset = client.scroll(collection, limit=2, offset=offset, with_payload=True)
            json.dump([[p.model_dump() for p in points], offset], out, default=str)
            out.write("\n")
            if offset is None:
                return


client.create_collection("langchain", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
QdrantVectorStore(client=client, collection_name="langchain", embedding=Lengths()).add_texts(
    ["The kettle leaks", "Tea is at four", "The oven is loud"],
    metadatas=[{"source": "a.md", "tags": ["tea"], "text": "not the text"}, {"page": 3}, {}],
    ids=["0b54d5a3-5a4b-4c53-8a27-00000000000%d" % n for n in range(3)],
)
write("langchain", "langchain.json")

node = TextNode(text="Ben drinks coffee", id_="0b54d5a3-5a4b-4c53-8a27-000000000010",
                metadata={"file_name": "tea.md", "page_label": "1"}, embedding=[0.1, 0.2])
node.relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="doc1")
LlamaStore(client=client, collection_name="llama").add([node])
write("llama", "llamaindex.json")

from mem0 import Memory
from mem0.configs.base import MemoryConfig


class Vectors:
    """An embedding model for mem0 that needs no download."""

    config = None

    def embed(self, text, memory_action=None):
        return [float(len(text)), 1.0]

    def embed_batch(self, texts, memory_action=None):
        return [self.embed(t) for t in texts]


history = os.path.join(folder, "mem0", "history.db")
os.makedirs(os.path.dirname(history), exist_ok=True)
config = MemoryConfig(history_db_path=history, vector_store={
    "provider": "qdrant", "config": {"client": client, "collection_name": "mem0", "embedding_model_dims": 2}})
memory = Memory(config)
memory.embedding_model = Vectors()
kept, changed, deleted = (
    memory.add(text, user_id="ann", infer=False, metadata={"topic": "drinks"})["results"][0]["id"]
    for text in ("Ann drinks tea", "Ann lives in Bergen", "Ann is on holiday"))
memory.update(changed, "Ann lives in Oslo")
memory.delete(deleted)
write("mem0", "mem0.json")
with open(os.path.join(folder, "mem0_get_all.json"), "w") as out:
    json.dump(memory.get_all(filters={"user_id": "ann"}), out)
