\set first random(0, 99999)
\set step 10 * random(0, 9999) + 7
WITH saved AS (
    INSERT INTO record
        SELECT 1, chosen.name, 'Item', nextval('change_position'), now_ms(), now_ms(),
            substring(:bodies::bytea FROM chosen.number * 500 + 1 FOR 500)
        FROM (
            SELECT number, scattered_name((:first::bigint + number * :step::bigint) % 100000) AS name
            FROM generate_series(0, 199) AS number
            ORDER BY name
        ) AS chosen
    ON CONFLICT (zone, name) DO UPDATE SET
        change_position = excluded.change_position, modified_ms = excluded.modified_ms, body = excluded.body
    RETURNING change_position, zone, name
)
INSERT INTO change_log SELECT change_position, zone, name FROM saved RETURNING change_position;
