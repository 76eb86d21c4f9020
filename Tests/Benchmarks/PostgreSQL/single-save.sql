\set number random(0, 99999)
WITH saved AS (
    INSERT INTO record VALUES (
        1, scattered_name(:number::bigint), 'Item', nextval('change_position'), now_ms(), now_ms(), :body::bytea)
    ON CONFLICT (zone, name) DO UPDATE SET
        change_position = excluded.change_position, modified_ms = excluded.modified_ms, body = excluded.body
    RETURNING change_position, zone, name
)
INSERT INTO change_log SELECT change_position, zone, name FROM saved RETURNING change_position;
