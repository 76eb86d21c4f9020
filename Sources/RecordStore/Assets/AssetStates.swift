import RecordModel
import StorageContract

/// The states of an asset, from the beginning of its upload until its row goes:
///
///     insertUpload ─▶ uploading ─ completeUpload, takeUpload ─▶ complete
///                         │                                        │
///                abandonUpload, or due                    unnamed for the grace time
///                         └──────────────▶ going ◀─────────────────┘
///                                            └─ forgetAsset ─▶ no row
extension UsageTransaction {
    /// Begins an upload, with a number that no asset ever had.
    func insertUpload(
        of asset: Asset,
        by user: String?,
        in database: DatabaseID
    ) throws(StorageFailure) -> AssetNumber {
        let row = AssetRow(
            database: database,
            sha256: asset.sha256,
            size: asset.size,
            state: .uploading,
            uploader: try user.map { (user) throws(StorageFailure) in try self.authorNumber(ofUserOrNew: user)
            } ?? 0,
            sinceMilliseconds: self.nowMilliseconds
        )
        self.count(row.counted, in: database)
        return AssetNumber(rawValue: try self.insert(row))
    }

    /// Begins the grace time of an asset anew, unless a record names it.
    func renew(_ number: AssetNumber) throws(StorageFailure) {
        guard let row = try self.row(AssetRow.byKey, number), row.sinceMilliseconds != nil else { return }
        try self.change(row) { $0.sent(at: self.nowMilliseconds) }
    }

    /// Writes a changed row, and adds the difference to the amounts of the database.
    func change(_ row: AssetRow, _ change: (inout AssetRow) -> Void) throws(StorageFailure) {
        var changed = row
        change(&changed)
        if changed.counted != row.counted {
            var growth = changed.counted
            growth.add(row.counted.negated)
            self.count(growth, in: row.database)
        }
        try self.put(changed)
    }

    /// Finds the asset that a participant has sent, to be named by a record: the upload becomes the
    /// asset, unless the database has the same bytes.
    func takeUpload(
        of asset: Asset,
        by user: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> AssetNumber {
        let known = try self.asset(asset, in: database)
        guard let row = try self.upload(of: asset, by: user, in: database) else {
            // Another save of the request has taken it.
            guard let known else { throw .unexpected(code: 0) }
            return known
        }
        if let known {
            try self.setGoing(row)
            return known
        }
        try self.setComplete(row)
        try self.delete(RowRange(AssetUserRow.byKey, row.number))
        return row.number
    }

    /// Notes that all bytes of an upload are in its file: from now on records may name it, of a
    /// participant's upload those that the participant saves.
    ///
    /// - Returns: False if the row is gone, or going.
    func completeUpload(_ number: AssetNumber) throws(StorageFailure) -> Bool {
        guard let row = try self.row(AssetRow.byKey, number) else { return false }
        switch row.state {
        case .complete: return true
        case .going: return try self.isKnown(row)
        case .uploading: break
        }
        if row.uploader != 0, try self.isPrivate(row.database) {
            try self.addSender(row.uploader, of: number)
            try self.renew(number)
            return true
        }
        // In a public database another user may have been first: the same bytes are kept once.
        if let known = try self.asset(row.asset, in: row.database) {
            try self.addSender(row.uploader, of: known)
            try self.renew(known)
            try self.setGoing(row)
            return true
        }
        try self.setComplete(row)
        if row.uploader != 0 { try self.addSender(row.uploader, of: number) }
        return true
    }

    /// Whether an upload ended because the database had its bytes: an execution with a lost outcome
    /// has found that.
    private func isKnown(_ row: AssetRow) throws(StorageFailure) -> Bool {
        guard let known = try self.asset(row.asset, in: row.database) else { return false }
        return try self.row(AssetUserRow.byKey, known, row.uploader) != nil
    }

    private func isPrivate(_ database: DatabaseID) throws(StorageFailure) -> Bool {
        guard let row = try self.row(DatabaseRow.byKey, database) else { throw .unexpected(code: 0) }
        return row.owner != DatabaseRow.nobody
    }

    /// Cancels an upload.
    func abandonUpload(_ number: AssetNumber) throws(StorageFailure) {
        guard let row = try self.row(AssetRow.byKey, number), row.state == .uploading else { return }
        try self.setGoing(row)
    }

    /// Marks assets that were not named or sent since a time as going, and returns all marked
    /// assets, earlier ones included; at most `limit`.
    ///
    /// The grace time of `open` uploads begins anew. Assets that are being read stay as they are.
    func markGoing(
        unnamedSince bounds: UnnamedBounds,
        limit: Int,
        except leases: AssetLeases.Numbers
    ) throws(StorageFailure) -> [AssetNumber] {
        var going = try self.rows(RowRange(AssetRow.going), limit: limit).map(\.number)
        // An asset that is renewed now is not found again.
        let bound = min(bounds.sent, self.nowMilliseconds - 1)
        while going.count < limit {
            let due = try self.rows(RowRange(AssetRow.unnamed), limit: limit - going.count).prefix {
                $0.sinceMilliseconds.map { $0 <= bound } ?? false
            }
            for row in due {
                if leases.written.contains(row.number) {
                    try self.change(row) { $0.sent(at: self.nowMilliseconds) }
                } else if try self.marksGoing(row) {
                    going.append(row.number)
                }
            }
            if due.isEmpty { break }
        }
        guard going.count < limit else { return going }
        let released = RowRange(AssetRow.unnamed).after(AssetRow.releasedMilliseconds - 1)
        for row in try self.rows(released, limit: limit - going.count + leases.read.count) {
            guard going.count < limit, let since = row.sinceMilliseconds,
                since &- AssetRow.releasedMilliseconds <= bounds.released
            else { break }
            if !leases.read.contains(row.number), try self.marksGoing(row) { going.append(row.number) }
        }
        return going
    }

    /// Marks as going the assets of a database that no record has named for a while, among the
    /// first of the store; `wanted` ones stay.
    ///
    /// - Returns: Whether there was anything.
    func giveUpUnnamed(
        in database: DatabaseID,
        except wanted: Set<AssetNumber>
    ) throws(StorageFailure) -> Bool {
        let bound = self.nowMilliseconds - UnnamedBounds.safetyMilliseconds
        var isAny = false
        for row in try self.rows(RowRange(AssetRow.unnamed), limit: 1_000) {
            guard let since = row.sinceMilliseconds, since <= bound else { break }
            guard row.database == database, !wanted.contains(row.number) else { continue }
            if try self.marksGoing(row) { isAny = true }
        }
        return isAny
    }

    /// Marks an asset as going, unless a record names it after all.
    private func marksGoing(_ row: AssetRow) throws(StorageFailure) -> Bool {
        guard try !self.isNamed(row.number) else {
            try self.change(row) { $0.endGrace() }
            return false
        }
        try self.setGoing(row)
        return true
    }

    /// Removes the row of an asset once its file is gone.
    func forgetAsset(_ number: AssetNumber) throws(StorageFailure) {
        guard let row = try self.row(AssetRow.byKey, number), row.state == .going else { return }
        try self.delete(row)
    }

    /// Marks an asset with a file that is to go: no request finds it any more.
    func setGoing(_ row: AssetRow) throws(StorageFailure) {
        self.count(row.counted.negated, in: row.database)
        try self.markGoing(row)
    }

    private func setComplete(_ row: AssetRow) throws(StorageFailure) {
        var row = row
        row.state = .complete
        row.sent(at: self.nowMilliseconds)
        try self.put(row)
    }

    // MARK: Senders

    /// Forgets which assets of any database a user has sent.
    ///
    /// Looks at all senders, which happens once a deleted user.
    func forgetSender(_ user: String) throws(StorageFailure) {
        guard let author = try self.row(AuthorRow.byRecordName, user)?.number else { return }
        var sent: [AssetUserRow] = []
        try self.visit(RowRange(AssetUserRow.byKey)) { (row) throws(StorageFailure) in
            if row.author == author { sent.append(row) }
        }
        for row in sent { try self.delete(row) }
    }

    private func addSender(_ author: Int64, of number: AssetNumber) throws(StorageFailure) {
        try self.put(AssetUserRow(asset: number, author: author))
    }
}

/// Up to when an asset must be unnamed to go, in milliseconds since 1970.
struct UnnamedBounds {
    /// The bound for uploads, and for assets that were sent and that no record has named.
    var sent: Int64
    /// The bound for assets that records have named.
    var released: Int64

    /// A client that has sent a file saves it within this time, or is asked to send it again.
    static let safetyMilliseconds: Int64 = 15 * 60 * 1_000
}

extension UnnamedBounds {
    /// `isPressed` says that space is needed now.
    init(nowMilliseconds now: Int64, graceSeconds: Int, isPressed: Bool) {
        let grace = Int64(graceSeconds) * 1_000
        self.sent = now - (isPressed ? min(grace, Self.safetyMilliseconds) : grace)
        self.released = isPressed ? now : now - grace
    }
}
