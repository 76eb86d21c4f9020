/// Statements of the writer on records, their changes, entries and references.
///
/// Rows of a zone by a list of keys are joined with the list (`KeyList`).
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

    private static let updated =
        "number bigint, position bigint, modified_ms bigint, modifier bigint, parent text, body bytea"

    static let update = SQL(
        """
        UPDATE tidemark.record AS r SET position = k.position, modified_ms = k.modified_ms,
            modifier = k.modifier, parent = k.parent, body = k.body
        FROM \(KeyList(updated).text)
        WHERE r.database = k.database AND r.zone = k.zone AND r.number = k.number
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
        """
        DELETE FROM tidemark.record AS r USING \(KeyList("number bigint").text)
        WHERE r.database = k.database AND r.zone = k.zone AND r.number = k.number
        """
    )

    static let removeTombstones = SQL(
        """
        DELETE FROM tidemark.tombstone AS d USING \(KeyList("name text").text)
        WHERE d.database = k.database AND d.zone = k.zone AND d.name = k.name RETURNING d.name
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

    /// Positions as ranges: records that were saved together are often saved together again.
    static let removeChanges = SQL(
        """
        DELETE FROM tidemark.change AS c USING \(KeyList("first bigint, last bigint").text)
        WHERE c.database = k.database AND c.zone = k.zone AND c.position BETWEEN k.first AND k.last
        """
    )

    static let insertChanges = SQL(
        """
        INSERT INTO tidemark.change (database, zone, position, record)
        SELECT $1, $2, u.position, u.record FROM unnest($3::bigint[], $4::bigint[]) AS u(position, record)
        """
    )

    /// `removeChanges` and `insertChanges` for one removed position and one new one.
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
        USING \(KeyList("index_number bigint, value bytea, record bigint").text)
        WHERE e.database = k.database AND e.zone = k.zone AND e.index_number = k.index_number
            AND e.value = k.value AND e.record = k.record
        RETURNING octet_length(e.value)
        """
    )

    /// All entries of some records, found by a scan of the zone's entries.
    static let removeAllEntries = SQL(
        """
        DELETE FROM tidemark.index_entry WHERE database = $1 AND zone = $2 AND record = ANY($3::bigint[])
        RETURNING octet_length(value)
        """
    )

    /// All references of some records, found likewise.
    static let removeAllReferences = SQL(
        """
        DELETE FROM tidemark.hold WHERE database = $1 AND zone = $2 AND holder = ANY($3::text[])
        RETURNING octet_length(target) + octet_length(holder)
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
        DELETE FROM tidemark.hold AS h USING \(KeyList("target text, holder text").text)
        WHERE h.database = k.database AND h.zone = k.zone AND h.target = k.target AND h.holder = k.holder
        RETURNING octet_length(h.target) + octet_length(h.holder)
        """
    )
}
