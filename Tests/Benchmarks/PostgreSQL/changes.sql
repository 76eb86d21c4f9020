-- The records of one zone as in items.sql, with the natural index for what changed: (zone, change_position).
CREATE TABLE changed_record (
    zone integer NOT NULL,
    name text NOT NULL,
    record_type text NOT NULL,
    change_position bigint NOT NULL,
    created_ms bigint NOT NULL,
    modified_ms bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (zone, name)
);

INSERT INTO changed_record
    SELECT 1, scattered_name(number), 'Item', number + 1, 0, 0, convert_to(repeat('x', 500), 'UTF8')
    FROM generate_series(0, 99999) AS number;
CREATE INDEX ON changed_record (zone, change_position);
