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
    database_id TEXT NOT NULL REFERENCES databases(id) ON DELETE CASCADE, config_json_str TEXT, schema_str TEXT,
    UNIQUE (name, database_id)
);
INSERT INTO collections VALUES ('93bbc680-b97e-4e28-9278-c6384beec263', 'kitchen', 2, '00000000-0000-0000-0000-000000000000', '{}', '{"defaults":{"string":{"fts_index":{"enabled":false,"config":{}},"string_inverted_index":{"enabled":true,"config":{}}},"float_list":{"vector_index":{"enabled":false,"config":{"space":"l2","embedding_function":{"type":"known","name":"default","config":{}},"hnsw":{"ef_construction":100,"max_neighbors":16,"ef_search":100,"num_threads":2,"batch_size":100,"sync_threshold":1000,"resize_factor":1.2}}}},"sparse_vector":{"sparse_vector_index":{"enabled":false,"config":{"embedding_function":{"type":"unknown"},"bm25":false}}},"int":{"int_inverted_index":{"enabled":true,"config":{}}},"float":{"float_inverted_index":{"enabled":true,"config":{}}},"bool":{"bool_inverted_index":{"enabled":true,"config":{}}}},"keys":{"category":{"string":{"fts_index":{"enabled":false,"config":{}},"string_inverted_index":{"enabled":true,"config":{}}}},"#document":{"string":{"fts_index":{"enabled":true,"config":{}},"string_inverted_index":{"enabled":false,"config":{}}}},"checked":{"bool":{"bool_inverted_index":{"enabled":true,"config":{}}}},"added_at":{"string":{"fts_index":{"enabled":false,"config":{}},"string_inverted_index":{"enabled":true,"config":{}}}},"tags":{"string":{"fts_index":{"enabled":false,"config":{}},"string_inverted_index":{"enabled":true,"config":{}}}},"related_memories":{"string":{"fts_index":{"enabled":false,"config":{}},"string_inverted_index":{"enabled":true,"config":{}}}},"confidence":{"float":{"float_inverted_index":{"enabled":true,"config":{}}}},"source":{"string":{"fts_index":{"enabled":false,"config":{}},"string_inverted_index":{"enabled":true,"config":{}}}},"shelf":{"int":{"int_inverted_index":{"enabled":true,"config":{}}}},"#embedding":{"float_list":{"vector_index":{"enabled":true,"config":{"space":"l2","embedding_function":{"type":"known","name":"default","config":{}},"source_key":"#document","hnsw":{"ef_construction":100,"max_neighbors":16,"ef_search":100,"num_threads":2,"batch_size":100,"sync_threshold":1000,"resize_factor":1.2}}}}}}}');
INSERT INTO collections VALUES ('8c00ec87-3a70-4f3d-8f4f-3443334b51c9', 'office', 1, '00000000-0000-0000-0000-000000000000', '{}', '{"defaults":{"string":{"fts_index":{"enabled":false,"config":{}},"string_inverted_index":{"enabled":true,"config":{}}},"float_list":{"vector_index":{"enabled":false,"config":{"space":"l2","embedding_function":{"type":"known","name":"default","config":{}},"hnsw":{"ef_construction":100,"max_neighbors":16,"ef_search":100,"num_threads":2,"batch_size":100,"sync_threshold":1000,"resize_factor":1.2}}}},"sparse_vector":{"sparse_vector_index":{"enabled":false,"config":{"embedding_function":{"type":"unknown"},"bm25":false}}},"int":{"int_inverted_index":{"enabled":true,"config":{}}},"float":{"float_inverted_index":{"enabled":true,"config":{}}},"bool":{"bool_inverted_index":{"enabled":true,"config":{}}}},"keys":{"#document":{"string":{"fts_index":{"enabled":true,"config":{}},"string_inverted_index":{"enabled":false,"config":{}}}},"tags":{"string":{"fts_index":{"enabled":false,"config":{}},"string_inverted_index":{"enabled":true,"config":{}}}},"sizes":{"int":{"int_inverted_index":{"enabled":true,"config":{}}}},"#embedding":{"float_list":{"vector_index":{"enabled":true,"config":{"space":"l2","embedding_function":{"type":"known","name":"default","config":{}},"source_key":"#document","hnsw":{"ef_construction":100,"max_neighbors":16,"ef_search":100,"num_threads":2,"batch_size":100,"sync_threshold":1000,"resize_factor":1.2}}}}}}}');
CREATE TABLE "segments" (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    scope TEXT NOT NULL,
    collection TEXT REFERENCES collection(id) NOT NULL
);
INSERT INTO segments VALUES ('189f71a5-eec2-4dd9-98c0-030b75a5584a', 'urn:chroma:segment/vector/hnsw-local-persisted', 'VECTOR', '93bbc680-b97e-4e28-9278-c6384beec263');
INSERT INTO segments VALUES ('2514d2e0-ade2-440b-a260-e1c34959656b', 'urn:chroma:segment/metadata/sqlite', 'METADATA', '93bbc680-b97e-4e28-9278-c6384beec263');
INSERT INTO segments VALUES ('1817e56b-c38f-4664-b37c-dab57ed49945', 'urn:chroma:segment/vector/hnsw-local-persisted', 'VECTOR', '8c00ec87-3a70-4f3d-8f4f-3443334b51c9');
INSERT INTO segments VALUES ('1311e3b7-bf8f-467b-acda-d7dc6ffa2370', 'urn:chroma:segment/metadata/sqlite', 'METADATA', '8c00ec87-3a70-4f3d-8f4f-3443334b51c9');
CREATE TABLE embeddings (
    id INTEGER PRIMARY KEY,
    segment_id TEXT NOT NULL,
    embedding_id TEXT NOT NULL,
    seq_id BLOB NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (segment_id, embedding_id)
);
INSERT INTO embeddings VALUES (1, '2514d2e0-ade2-440b-a260-e1c34959656b', 'k1', 1, '2026-11-29 02:34:41');
INSERT INTO embeddings VALUES (2, '2514d2e0-ade2-440b-a260-e1c34959656b', 'k2', 5, '2026-11-29 02:34:41');
INSERT INTO embeddings VALUES (4, '2514d2e0-ade2-440b-a260-e1c34959656b', 'k4', 4, '2026-11-29 02:34:41');
INSERT INTO embeddings VALUES (5, '1311e3b7-bf8f-467b-acda-d7dc6ffa2370', '0b54d5a3-5a4b-4c53-8a27-111111111111', 7, '2026-11-29 02:34:41');
INSERT INTO embeddings VALUES (6, '1311e3b7-bf8f-467b-acda-d7dc6ffa2370', 'list', 8, '2026-11-29 02:34:41');
CREATE TABLE embedding_metadata (
    id INTEGER REFERENCES embeddings(id),
    key TEXT NOT NULL,
    string_value TEXT,
    int_value INTEGER,
    float_value REAL, bool_value INTEGER,
    PRIMARY KEY (id, key)
);
INSERT INTO embedding_metadata VALUES (1, 'checked', NULL, NULL, NULL, 1);
INSERT INTO embedding_metadata VALUES (1, 'chroma:document', 'The kettle leaks', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'category', 'kitchen', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'tags', 'tea, pots', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (1, 'confidence', NULL, NULL, 0.5, NULL);
INSERT INTO embedding_metadata VALUES (1, 'shelf', NULL, 7, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'source', 'clock', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (2, 'chroma:document', 'Tea is at five', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'chroma:document', 'The oven is <hot> & loud', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'related_memories', 'k1', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (4, 'added_at', '2025-01-02T03:04:05Z', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (5, 'chroma:document', 'Port 5432 is taken', NULL, NULL, NULL);
INSERT INTO embedding_metadata VALUES (6, 'chroma:document', 'Desks by the window', NULL, NULL, NULL);
CREATE TABLE embedding_metadata_array (
    id INTEGER NOT NULL REFERENCES embeddings(id),
    key TEXT NOT NULL,
    string_value TEXT,
    int_value INTEGER,
    float_value REAL,
    bool_value INTEGER
);
INSERT INTO embedding_metadata_array VALUES (6, 'tags', 'desk', NULL, NULL, NULL);
INSERT INTO embedding_metadata_array VALUES (6, 'tags', 'light', NULL, NULL, NULL);
INSERT INTO embedding_metadata_array VALUES (6, 'sizes', NULL, 1, NULL, NULL);
INSERT INTO embedding_metadata_array VALUES (6, 'sizes', NULL, 2, NULL, NULL);
CREATE TABLE max_seq_id (
    segment_id TEXT PRIMARY KEY,
    seq_id INTEGER);
INSERT INTO max_seq_id VALUES ('2514d2e0-ade2-440b-a260-e1c34959656b', 6);
INSERT INTO max_seq_id VALUES ('1311e3b7-bf8f-467b-acda-d7dc6ffa2370', 8);
CREATE TABLE embeddings_queue (
    seq_id INTEGER PRIMARY KEY,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    operation INTEGER NOT NULL,
    topic TEXT NOT NULL,
    id TEXT NOT NULL,
    vector BLOB,
    encoding TEXT,
    metadata TEXT
);
INSERT INTO embeddings_queue VALUES (1, '2026-11-29 02:34:41', 0, 'persistent://default/default/93bbc680-b97e-4e28-9278-c6384beec263', 'k1', x'', 'FLOAT32', '{"chroma:document":"The kettle leaks","shelf":7,"tags":"tea, pots","confidence":0.5,"category":"kitchen","checked":true}');
INSERT INTO embeddings_queue VALUES (2, '2026-11-29 02:34:41', 0, 'persistent://default/default/93bbc680-b97e-4e28-9278-c6384beec263', 'k2', x'', 'FLOAT32', '{"source":"talk","chroma:document":"Tea is at four"}');
INSERT INTO embeddings_queue VALUES (3, '2026-11-29 02:34:41', 0, 'persistent://default/default/93bbc680-b97e-4e28-9278-c6384beec263', 'k3', x'', 'FLOAT32', '{"shelf":1,"chroma:document":"Gone tomorrow"}');
INSERT INTO embeddings_queue VALUES (4, '2026-11-29 02:34:41', 0, 'persistent://default/default/93bbc680-b97e-4e28-9278-c6384beec263', 'k4', x'', 'FLOAT32', '{"related_memories":"k1","chroma:document":"The oven is <hot> & loud","added_at":"2025-01-02T03:04:05Z"}');
INSERT INTO embeddings_queue VALUES (5, '2026-11-29 02:34:41', 2, 'persistent://default/default/93bbc680-b97e-4e28-9278-c6384beec263', 'k2', x'', 'FLOAT32', '{"source":"clock","chroma:document":"Tea is at five"}');
INSERT INTO embeddings_queue VALUES (6, '2026-11-29 02:34:41', 3, 'persistent://default/default/93bbc680-b97e-4e28-9278-c6384beec263', 'k3', NULL, NULL, '{}');
INSERT INTO embeddings_queue VALUES (7, '2026-11-29 02:34:41', 0, 'persistent://default/default/8c00ec87-3a70-4f3d-8f4f-3443334b51c9', '0b54d5a3-5a4b-4c53-8a27-111111111111', x'', 'FLOAT32', '{"chroma:document":"Port 5432 is taken"}');
INSERT INTO embeddings_queue VALUES (8, '2026-11-29 02:34:41', 0, 'persistent://default/default/8c00ec87-3a70-4f3d-8f4f-3443334b51c9', 'list', x'', 'FLOAT32', '{"tags":["desk","light"],"sizes":[1,2],"chroma:document":"Desks by the window"}');
