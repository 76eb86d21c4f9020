\set number random(0, 99999)
\startpipeline
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT schema_version, generation FROM tidemark.store WHERE id = 1;
SELECT r.number, r.position, r.type, r.created_ms, r.modified_ms, r.creator, r.modifier, r.parent,
    r.body, r.name, r.created_position
FROM tidemark.record AS r
WHERE r.database = :database AND r.zone = :zone AND r.name = scattered_name(:number);
COMMIT;
\endpipeline
