\set position random(0, 99800)
SELECT name, record_type, change_position, created_ms, modified_ms, encode(body, 'escape')
FROM changed_record WHERE zone = 1 AND change_position > :position::bigint ORDER BY change_position LIMIT 200;
