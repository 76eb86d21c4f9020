\set first random(0, 6049)
WITH saved AS (
    INSERT INTO record
        SELECT 2 + :client_id::integer, 'r' || lpad((:first::bigint + number)::text, 35, '0'), 'Item',
            nextval('change_position'), now_ms(), now_ms(), substring(:bodies::bytea FROM number * 500 + 1 FOR 500)
        FROM generate_series(0, 199) AS number
    ON CONFLICT (zone, name) DO UPDATE SET
        change_position = excluded.change_position, modified_ms = excluded.modified_ms, body = excluded.body
    RETURNING change_position, zone, name
)
INSERT INTO change_log SELECT change_position, zone, name FROM saved RETURNING change_position;
