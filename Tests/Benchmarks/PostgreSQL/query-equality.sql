\set author random(100000, 149999)
SELECT name, change_position, created_ms, modified_ms, title, author, published, shelf, topic, payload
FROM book WHERE author = 'author ' || :author::text;
