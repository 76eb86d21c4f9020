\set shelf random(0, 999)
\set topic (10 * :shelf + random(0, 99)) % 1000
SELECT name, change_position, created_ms, modified_ms, title, author, published, shelf, topic, payload
FROM book WHERE shelf = 1000 + :shelf::bigint AND topic = 1000 + :topic::bigint;
