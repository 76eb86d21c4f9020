-- One table with a column a field, as an application would have it, and a B-tree for each of the fields that have an
-- index in Tidemark/schema.ckdb. The same records as the load driver's.
CREATE TABLE book (
    name text PRIMARY KEY,
    change_position bigint NOT NULL,
    created_ms bigint NOT NULL,
    modified_ms bigint NOT NULL,
    title text NOT NULL,
    author text NOT NULL,
    published timestamptz NOT NULL,
    shelf bigint NOT NULL,
    topic bigint NOT NULL,
    payload text NOT NULL
);

CREATE FUNCTION minute(number bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_timestamp(978307200 + 60 * number)
$$;

-- The fields of a record take 500 bytes, as everywhere.
INSERT INTO book
    SELECT scattered_name(number), number, 0, 0, 'The quick brown fox jumps over the lazy dog',
        'author ' || 100000 + scattered % 50000, minute(scattered), 1000 + place % 1000,
        1000 + (10 * (place % 1000) + place / 1000 % 100) % 1000, repeat('x', 420)
    FROM (
        SELECT number, number * 654435761 % 1000000 AS scattered, number * 370248451 % 1000000 AS place
        FROM generate_series(0::bigint, 999999) AS number
    ) AS numbers;
CREATE INDEX ON book (author);
CREATE INDEX ON book (published);
CREATE INDEX ON book (shelf);
CREATE INDEX ON book (topic);
