\set shelf random(0, 999)
SELECT count(*) FROM book WHERE shelf = 1000 + :shelf::bigint;
