import StorageContract

/// Reads of references by their targets.
extension PostgreSQLConnection {
    private static let referrers = SQL(
        """
        SELECT k.ordinal, h.holder, h.kinds FROM unnest($3::text[]) WITH ORDINALITY AS k(target, ordinal)
        CROSS JOIN LATERAL (
            SELECT holder, kinds FROM tidemark.hold
            WHERE database = $1 AND zone = $2 AND target = k.target
                AND holder > CASE WHEN k.ordinal = 1 THEN $4 ELSE '' END
            ORDER BY holder LIMIT $5
        ) AS h ORDER BY k.ordinal, h.holder LIMIT $5
        """
    )

    private static let deleteSelfReferrers = SQL(
        """
        SELECT (SELECT count(*) FROM (
            SELECT 1 FROM tidemark.hold
            WHERE database = $1 AND zone = $2 AND target = k.target AND kinds & $4 <> 0 LIMIT $5
        ) AS counted)
        FROM unnest($3::text[]) WITH ORDINALITY AS k(target, ordinal) ORDER BY k.ordinal
        """
    )

    /// The referrers of some targets, up to a total number.
    func referrers(
        of targets: [String],
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [[Referrer]] {
        guard limit > 0, !targets.isEmpty else { return [] }
        let rows = try self.rows(
            Self.referrers,
            zone.parameters + [.texts(targets), .text(name), .integer(Int64(limit))]
        )
        var found = [[Referrer]](repeating: [], count: targets.count)
        for row in 0..<rows.count {
            let kinds = ReferenceKinds(rawValue: UInt8(truncatingIfNeeded: rows.integer(row, 2)))
            found[Int(rows.integer(row, 0)) - 1].append(Referrer(name: rows.text(row, 1), kinds: kinds))
        }
        var lists: [[Referrer]] = []
        var left = limit
        for referrers in found where left > 0 {
            left -= referrers.count
            lists.append(referrers)
        }
        return lists
    }

    func countsOfDeleteSelfReferrers(
        of targets: [String],
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [Int] {
        guard !targets.isEmpty else { return [] }
        let rows = try self.rows(
            Self.deleteSelfReferrers,
            zone.parameters + [
                .texts(targets), .integer(Int64(ReferenceKinds.deleteSelf.rawValue)),
                .integer(Int64(limit)),
            ]
        )
        return (0..<rows.count).map { Int(rows.integer($0, 0)) }
    }
}
