-- What the listeners of follow-rate query: the records of one zone as in items.sql, with an index on what changed, and
-- the names of the load driver's saves.
CREATE TABLE followed (
    zone integer NOT NULL,
    name text NOT NULL,
    record_type text NOT NULL,
    change_position bigint NOT NULL,
    created_ms bigint NOT NULL,
    modified_ms bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (zone, name)
);

CREATE TABLE followed_log (
    change_position bigint PRIMARY KEY,
    zone integer NOT NULL,
    name text NOT NULL
);

CREATE SEQUENCE followed_position;

INSERT INTO followed
    SELECT 1, 'r' || lpad(number::text, 35, '0'), 'Item', nextval('followed_position'), 0, 0,
        convert_to(repeat('x', 500), 'UTF8')
    FROM generate_series(0, 19999) AS number;
CREATE INDEX ON followed (zone, change_position);
INSERT INTO followed_log SELECT change_position, zone, name FROM followed;
