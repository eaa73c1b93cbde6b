CREATE TABLE history (
                        id           TEXT PRIMARY KEY,
                        memory_id    TEXT,
                        old_memory   TEXT,
                        new_memory   TEXT,
                        event        TEXT,
                        created_at   DATETIME,
                        updated_at   DATETIME,
                        is_deleted   INTEGER,
                        actor_id     TEXT,
                        role         TEXT
                    );
INSERT INTO history VALUES ('c3383649-0e29-4efb-b366-bcdb5ba9b9a1', '4db145ca-2057-4333-a052-439a7602c7eb', NULL, 'Ann drinks tea', 'ADD', '2026-11-29T02:35:14.375228+00:00', '2026-11-29T02:35:14.375228+00:00', 0, NULL, 'user');
INSERT INTO history VALUES ('662cc0d5-ace6-4758-86ba-ad25707e4d7a', '9c699a73-ac29-48ee-badd-f2bc51f1d09d', NULL, 'Ann lives in Bergen', 'ADD', '2026-11-29T02:35:14.392709+00:00', '2026-11-29T02:35:14.392709+00:00', 0, NULL, 'user');
INSERT INTO history VALUES ('e4d69e64-528e-4c55-bdb5-034333afd7df', '5f481489-53d7-443a-b9eb-5b4682ff85b4', NULL, 'Ann is on holiday', 'ADD', '2026-11-29T02:35:14.411678+00:00', '2026-11-29T02:35:14.411678+00:00', 0, NULL, 'user');
INSERT INTO history VALUES ('74277445-738c-4221-b1c0-d5a2c1a94be4', '9c699a73-ac29-48ee-badd-f2bc51f1d09d', 'Ann lives in Bergen', 'Ann lives in Oslo', 'UPDATE', '2026-11-29T02:35:14.392709+00:00', '2026-11-29T02:35:14.420480+00:00', 0, NULL, 'user');
INSERT INTO history VALUES ('411e6eb4-6a83-4dec-974c-175ce0a92495', '5f481489-53d7-443a-b9eb-5b4682ff85b4', 'Ann is on holiday', NULL, 'DELETE', '2026-11-29T02:35:14.411678+00:00', '2026-11-29T02:35:14.428384+00:00', 1, NULL, 'user');
