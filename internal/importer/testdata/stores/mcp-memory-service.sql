CREATE TABLE memories (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        content_hash TEXT UNIQUE NOT NULL,
                        content TEXT NOT NULL,
                        tags TEXT,
                        memory_type TEXT,
                        metadata TEXT,
                        created_at REAL,
                        updated_at REAL,
                        created_at_iso TEXT,
                        updated_at_iso TEXT,
                        deleted_at REAL DEFAULT NULL
                    , store TEXT DEFAULT 'default', parent_id TEXT, version INTEGER DEFAULT 1, confidence REAL DEFAULT 1.0, last_accessed INTEGER, superseded_by TEXT, embedding_pending INTEGER NOT NULL DEFAULT 0);
INSERT INTO memories VALUES (1, 'cb7750e09c82288f7ef2916606b2b9810f4700e0970d186ec8dfe88cd8e20fd5', 'The kettle leaks', 'kitchen,tea', 'observation', '{"room": "north"}', 1735787045.5, 1795919767.88761, '2025-01-02T03:04:05.500000Z', '2026-11-29T02:36:07.887610Z', NULL, 'default', NULL, 1, 1.0, NULL, NULL, 0);
INSERT INTO memories VALUES (2, '3026731c2f52b8bb2da2d96ab56305ffdeb7af53fc8331a92826453dc431cbdd', 'Tea is at four', 'tea', 'decision', '{"superseded_by": "7132984928f110cdf071c057e028ec796c8f6b7b2bebd3465ad76b418392630a"}', 1.79591976788782453538e+09, 1.79591976788782453538e+09, '2026-11-29T02:36:07.887825Z', '2026-11-29T02:36:07.887825Z', NULL, 'default', NULL, 1, 1.0, NULL, '7132984928f110cdf071c057e028ec796c8f6b7b2bebd3465ad76b418392630a', 0);
INSERT INTO memories VALUES (3, '4b46875ab54d92d714c31c3700ced31acd64d101481c5080bbb1ff84bcaa3958', 'Gone tomorrow', 'old', NULL, '{}', 1.79591976788783621787e+09, 1.79591976788783621787e+09, '2026-11-29T02:36:07.887836Z', '2026-11-29T02:36:07.887836Z', 1795919767.89996, 'default', NULL, 1, 1.0, NULL, NULL, 0);
INSERT INTO memories VALUES (4, '7132984928f110cdf071c057e028ec796c8f6b7b2bebd3465ad76b418392630a', 'Tea is at five', 'tea', 'decision', '{}', 1.7959197679004824162e+09, 1.7959197679004824162e+09, '2026-11-29T02:36:07.900482Z', '2026-11-29T02:36:07.900482Z', NULL, 'default', '3026731c2f52b8bb2da2d96ab56305ffdeb7af53fc8331a92826453dc431cbdd', 2, 1.0, NULL, NULL, 0);
CREATE TABLE memory_graph (
    source_hash TEXT NOT NULL,
    target_hash TEXT NOT NULL,
    similarity REAL NOT NULL,
    connection_types TEXT NOT NULL,  -- JSON array: ["semantic", "temporal", "causal", "thematic"]
    metadata TEXT,                   -- JSON object: {discovery_date, confidence, context}
    created_at REAL NOT NULL, relationship_type TEXT DEFAULT 'related',
    PRIMARY KEY (source_hash, target_hash)
);
