CREATE TABLE databases (
    id TEXT PRIMARY KEY, -- unique globally
    name TEXT NOT NULL, -- unique per tenant
    tenant_id TEXT NOT NULL REFERENCES tenants(id) ON DELETE CASCADE,
    UNIQUE (tenant_id, name) -- Ensure that a tenant has only one database with a given name
);
INSERT INTO databases VALUES ('00000000-0000-0000-0000-000000000000', 'default_database', 'default_tenant');
CREATE TABLE "collections" (
    id TEXT PRIMARY KEY, -- unique globally
    name TEXT NOT NULL, -- unique per database
    dimension INTEGER,
    database_id TEXT NOT NULL REFERENCES databases(id) ON DELETE CASCADE, config_json_str TEXT,
    UNIQUE (name, database_id)
);
INSERT INTO collections VALUES ('35d4c704-dbc5-44bb-a2b3-74bf2ab3074e', 'kitchen', 2, '00000000-0000-0000-0000-000000000000', '{"hnsw_configuration": {"space": "l2", "ef_construction": 100, "ef_search": 10, "num_threads": 2, "M": 16, "resize_factor": 1.2, "batch_size": 100, "sync_threshold": 1000, "_type": "HNSWConfigurationInternal"}, "_type": "CollectionConfigurationInternal"}');
INSERT INTO collections VALUES ('6fc36310-8385-477b-8f4d-edfc94df2130', 'office', 1, '00000000-0000-0000-0000-000000000000', '{"hnsw_configuration": {"space": "l2", "ef_construction": 100, "ef_search": 10, "num_threads": 2, "M": 16, "resize_factor": 1.2, "batch_size": 100, "sync_threshold": 1000, "_type": "HNSWConfigurationInternal"}, "_type": "CollectionConfigurationInternal"}');
CREATE TABLE "segments" (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    scope TEXT NOT NULL,
    collection TEXT REFERENCES collection(id) NOT NULL
);
INSERT INTO segments VALUES ('ea920b86-c666-4fe2-af32-ac5d8f31ba41', 'urn:chroma:segment/vector/hnsw-local-persisted', 'VECTOR', '35d4c704-dbc5-44bb-a2b3-74bf2ab3074e');
INSERT INTO segments VALUES ('4dafeb0a-3c9e-4780-8f4c-b9accfa02678', 'urn:chroma:segment/metadata/sqlite', 'METADATA', '35d4c704-dbc5-44bb-a2b3-74bf2ab3074e');
INSERT INTO segments VALUES ('74564bdd-a103-4521-b3da-df6bafeb50f2', 'urn:chroma:segment/vector/hnsw-local-persisted', 'VECTOR', '6fc36310-8385-477b-8f4d-edfc94df2130');
INSERT INTO segments VALUES ('8a5b1115-cbac-4a3b-b783-163ba1d5d2da', 'urn:chroma:segment/metadata/sqlite', 'METADATA', '6fc36310-8385-477b-8f4d-edfc94df2130');
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY,
    segment_id TEXT NOT NULL,
    embedding_id TEXT NOT NULL,
    seq_id BLOB NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (segment_id, embedding_id)
);
INSERT INTO embeddings VALUES (1, '4dafeb0a-3c9e-4780-8f4c-b9accfa02678', 'k1', x'', '2026-11-29 02:34:50');
INSERT INTO embeddings VALUES (2, '4dafeb0a-3c9e-4780-8f4c-b9accfa02678', 'k2', x'', '2026-11-29 02:34:50');
INSERT INTO embeddings VALUES (4, '4dafeb0a-3c9e-4780-8f4c-b9accfa02678', 'k4', x'', '2026-11-29 02:34:50');
INSERT INTO embeddings VALUES (5, '8a5b1115-cbac-4a3b-b783-163ba1d5d2da', '0b54d5a3-5a4b-4c53-8a27-111111111111', x'', '2026-11-29 02:34:51');
CREATE TABLE embedding_metadata (
    id INTEGER REFERENCES embeddings(id),
    key TEXT NOT NULL,
    string_value TEXT,
    int_value INTEGER,
    float_value REAL, bool_value INTEGER,
    PRIMARY KEY (id, key)
);
INSERT INTO embedding_metadata VALUES (1, 'category', 'kitchen', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'confidence', NULL, NULL, 0.5, NULL);
INSERT INTO embedding_metadata VALUES (1, 'shelf', NULL, 7, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'checked', NULL, NULL, NULL, 1);
INSERT INTO embedding_metadata VALUES (1, 'tags', 'tea, pots', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'chroma:document', 'The kettle leaks', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'added_at', '2025-01-02T03:04:05Z', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'related_memories', 'k1', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'chroma:document', 'The oven is <hot> & loud', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'source', 'clock', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'chroma:document', 'Tea is at five', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'chroma:document', 'Port 5432 is taken', NULL, NULL, NULL);
CREATE TABLE max_seq_id (
    segment_id TEXT PRIMARY KEY,
    seq_id BLOB NOT NULL
);
INSERT INTO max_seq_id VALUES ('4dafeb0a-3c9e-4780-8f4c-b9accfa02678', x'');
INSERT INTO max_seq_id VALUES ('8a5b1115-cbac-4a3b-b783-163ba1d5d2da', x'');
