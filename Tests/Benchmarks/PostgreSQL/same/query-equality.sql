\set author random(100000, 149999)
\startpipeline
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT schema_version, generation FROM tidemark.store WHERE id = 1;
SELECT r.number, r.position, r.type, r.created_ms, r.modified_ms, r.creator, r.modifier, r.parent,
    CASE WHEN octet_length(r.body) <= :bytes::bigint THEN r.body END, r.name, r.created_position, record
FROM (
    SELECT database, zone, record FROM tidemark.index_entry
    WHERE database = :database AND zone = :zone AND index_number = :index
        AND value = author(:author) AND record >= :from
    ORDER BY record LIMIT :limit
) AS e
LEFT JOIN tidemark.record AS r ON r.database = e.database AND r.zone = e.zone AND r.number = e.record
ORDER BY record;
COMMIT;
\endpipeline
