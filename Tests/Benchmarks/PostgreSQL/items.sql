-- The peer's schema: what a careful user of PostgreSQL would write for the same job. One statement, one transaction,
-- one round trip. Positions come from a sequence: cheaper than the one order a database that Tidemark promises.
CREATE TABLE record (
    zone integer NOT NULL,
    name text NOT NULL,
    record_type text NOT NULL,
    change_position bigint NOT NULL,
    created_ms bigint NOT NULL,
    modified_ms bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (zone, name)
);

CREATE TABLE change_log (
    change_position bigint PRIMARY KEY,
    zone integer NOT NULL,
    name text NOT NULL
);

CREATE SEQUENCE change_position;

CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT (extract(epoch FROM now()) * 1000)::bigint
$$;

-- Zone 1: 100,000 scattered names; zones 2 to 17: 6,250 names each, in order.
INSERT INTO record
    SELECT 1, scattered_name(number), 'Item', nextval('change_position'), 0, 0, convert_to(repeat('x', 500), 'UTF8')
    FROM generate_series(0, 99999) AS number;
INSERT INTO record
    SELECT zone, 'r' || lpad(number::text, 35, '0'), 'Item', nextval('change_position'), 0, 0,
        convert_to(repeat('x', 500), 'UTF8')
    FROM generate_series(2, 17) AS zone, generate_series(0, 6249) AS number;
INSERT INTO change_log SELECT change_position, zone, name FROM record;
