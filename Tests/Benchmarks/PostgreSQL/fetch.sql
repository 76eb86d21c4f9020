\set number random(0, 99999)
SELECT record_type, change_position, created_ms, modified_ms, encode(body, 'escape')
FROM record WHERE zone = 1 AND name = scattered_name(:number::bigint);
