\set position random(:first, :last)
\startpipeline
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT schema_version, generation FROM tidemark.store WHERE id = 1;
SELECT "database", "name", "number", "position", "record_count", "byte_count", "target_database",
    "target_zone", "client_token", "row_bytes", "encryption_scope"
FROM tidemark."zone" WHERE "database" = :database AND "name" = :name;
SELECT "number", "environment", "scope", "owner", "position", "epoch", "tombstones_gone_through",
    "record_count", "record_bytes", "asset_count", "asset_bytes", "row_bytes"
FROM tidemark."database" WHERE "number" = :database;
SELECT r.number, r.position, r.type, r.created_ms, r.modified_ms, r.creator, r.modifier, r.parent,
    CASE WHEN octet_length(r.body) <= :bytes::bigint THEN r.body END, r.name, r.created_position,
    c.position, c.record
FROM (
    SELECT database, zone, position, record FROM tidemark.change
    WHERE database = :database AND zone = :zone AND position > :position ORDER BY position LIMIT :limit
) AS c
LEFT JOIN tidemark.record AS r ON r.database = c.database AND r.zone = c.zone AND r.number = c.record
ORDER BY c.position;
SELECT d.position, d.name, t.name, c.record_name, d.covered_by FROM tidemark.tombstone AS d
LEFT JOIN tidemark."record_type" AS t ON t.number = d.type
LEFT JOIN tidemark."author" AS c ON c.number = d.creator
WHERE d.database = :database AND d.zone = :zone AND d.position > :position ORDER BY d.position LIMIT :limit;
COMMIT;
\endpipeline
