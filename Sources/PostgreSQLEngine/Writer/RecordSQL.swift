/// Statements of the writer on records, their changes, entries and references.
enum RecordSQL {
    static let insert = SQL(
        """
        INSERT INTO tidemark.record (database, zone, number, name, type, position, created_position,
            created_ms, modified_ms, creator, modifier, parent, body)
        SELECT $1, $2, u.number, u.name, u.type, u.position, u.position, u.created_ms, u.modified_ms,
            u.creator, u.modifier, u.parent, u.body
        FROM unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
            $9::bigint[], $10::bigint[], $11::text[], $12::bytea[])
            AS u(number, name, type, position, created_ms, modified_ms, creator, modifier, parent, body)
        """
    )

    static let update = SQL(
        """
        UPDATE tidemark.record AS r SET position = u.position, modified_ms = u.modified_ms,
            modifier = u.modifier, parent = u.parent, body = u.body
        FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::bytea[])
            AS u(number, position, modified_ms, modifier, parent, body)
        WHERE r.database = $1 AND r.zone = $2 AND r.number = u.number
        """
    )

    /// `update` for one record: PostgreSQL takes half the time without a join.
    static let updateOne = SQL(
        """
        UPDATE tidemark.record SET position = $4, modified_ms = $5, modifier = $6, parent = $7, body = $8
        WHERE database = $1 AND zone = $2 AND number = $3
        """
    )

    static let remove = SQL(
        "DELETE FROM tidemark.record WHERE database = $1 AND zone = $2 AND number = ANY($3::bigint[])"
    )

    static let removeTombstones = SQL(
        """
        DELETE FROM tidemark.tombstone WHERE database = $1 AND zone = $2 AND name = ANY($3::text[])
        RETURNING name
        """
    )

    static let insertTombstones = SQL(
        """
        INSERT INTO tidemark.tombstone (database, zone, name, position, type, deleted_ms, creator, covered_by)
        SELECT $1, $2, u.name, u.position, u.type, $3, u.creator, u.covered_by
        FROM unnest($4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
            AS u(name, position, type, creator, covered_by)
        """
    )

    static let removeChanges = SQL(
        "DELETE FROM tidemark.change WHERE database = $1 AND zone = $2 AND position = ANY($3::bigint[])"
    )

    static let insertChanges = SQL(
        """
        INSERT INTO tidemark.change (database, zone, position, record)
        SELECT $1, $2, u.position, u.record FROM unnest($3::bigint[], $4::bigint[]) AS u(position, record)
        """
    )

    /// `removeChanges` and `insertChanges` for one position that goes and one that comes.
    static let moveChange = SQL(
        """
        WITH removed AS (
            DELETE FROM tidemark.change WHERE database = $1 AND zone = $2 AND position = $3
        )
        INSERT INTO tidemark.change (database, zone, position, record) VALUES ($1, $2, $4, $5)
        """
    )

    static let insertEntries = SQL(
        """
        INSERT INTO tidemark.index_entry (database, zone, index_number, value, record)
        SELECT $1, $2, u.index_number, u.value, u.record
        FROM unnest($3::bigint[], $4::bytea[], $5::bigint[]) AS u(index_number, value, record)
        ON CONFLICT DO NOTHING RETURNING octet_length(value)
        """
    )

    static let removeEntries = SQL(
        """
        DELETE FROM tidemark.index_entry AS e
        USING unnest($3::bigint[], $4::bytea[], $5::bigint[]) AS u(index_number, value, record)
        WHERE e.database = $1 AND e.zone = $2 AND e.index_number = u.index_number AND e.value = u.value
            AND e.record = u.record
        RETURNING octet_length(e.value)
        """
    )

    static let setReferences = SQL(
        """
        INSERT INTO tidemark.hold (database, zone, target, holder, kinds)
        SELECT $1, $2, u.target, u.holder, u.kinds
        FROM unnest($3::text[], $4::text[], $5::bigint[]) AS u(target, holder, kinds)
        ON CONFLICT (database, zone, target, holder) DO UPDATE SET kinds = excluded.kinds
        """
    )

    static let removeReferences = SQL(
        """
        DELETE FROM tidemark.hold AS h USING unnest($3::text[], $4::text[]) AS u(target, holder)
        WHERE h.database = $1 AND h.zone = $2 AND h.target = u.target AND h.holder = u.holder
        RETURNING octet_length(h.target) + octet_length(h.holder)
        """
    )
}
