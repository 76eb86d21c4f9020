\set minute random(0, 999900)
SELECT name, change_position, created_ms, modified_ms, title, author, published, shelf, topic, payload
FROM book WHERE published >= minute(:minute::bigint) ORDER BY published LIMIT 100;
