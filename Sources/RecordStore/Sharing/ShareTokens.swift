import StorageContract

/// The last parts of the URLs of shares.
enum ShareToken {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// 22 letters and digits make 130 bits.
    private static let length = 22

    /// Whether a text could have been made here.
    static func isWellFormed(_ text: String) -> Bool {
        text.utf8.count == self.length && text.allSatisfy { self.letters.contains($0) }
    }

    /// Makes one at random.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let letters = (0..<self.length).map { _ in
            self.letters[Int.random(in: self.letters.indices, using: &generator)]
        }
        return String(letters)
    }
}

extension WriteTransaction {
    /// Gives the last part of a share's URL: always the same for a root, or a zone.
    ///
    /// For a participant it is the token of their one-time URL; an empty name stands for every
    /// user.
    func token(
        of root: String?,
        participant: String,
        in zone: ZoneKey
    ) throws(StorageFailure) -> String {
        let root = root ?? ""
        let known = try self.row(ShareTokenRow.byRoot, zone.database, zone.number, root, participant)
        if let known { return known.token }
        let token = ShareToken.make()
        try self.put(ShareTokenRow(token: token, zone: zone, root: root, participant: participant))
        self.count(rowBytes: RowBytes.shareToken(of: root), in: zone)
        self.knowledge.zonesWithTokens[zone] = true
        return token
    }

    /// Forgets the URLs of a record that is gone.
    func forgetTokens(of root: String, in zone: ZoneKey) throws(StorageFailure) {
        let hasAny: Bool
        if let known = self.knowledge.zonesWithTokens[zone] {
            hasAny = known
        } else {
            let range = RowRange(ShareTokenRow.byRoot, zone.database, zone.number)
            hasAny = try self.count(range, limit: 1) > 0
            self.knowledge.zonesWithTokens[zone] = hasAny
        }
        guard hasAny else { return }
        try self.forget(RowRange(ShareTokenRow.byRoot, zone.database, zone.number, root), of: root, zone)
    }

    /// Forgets the URLs of a root that are each for one participant.
    func forgetOneTimeTokens(of root: String, in zone: ZoneKey) throws(StorageFailure) {
        let range = RowRange(ShareTokenRow.byRoot, zone.database, zone.number, root)
        // The token for every user has no participant and is the first.
        try self.forget(range.after(""), of: root, zone)
    }

    private func forget(
        _ range: RowRange<ShareTokenRow>,
        of root: String,
        _ zone: ZoneKey
    ) throws(StorageFailure) {
        let count = try self.delete(range)
        if count > 0 { self.count(rowBytes: -count * RowBytes.shareToken(of: root), in: zone) }
    }
}
