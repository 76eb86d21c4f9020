import Administration
import ArgumentParser
import RecordModel
import RecordStore

/// `--zone NAME --by WHO`, for commands about the history of a zone.
struct HistoryOptions: ParsableArguments {
    @OptionGroup var records: RecordsOptions<OwnDatabaseName>

    @Option(help: ArgumentHelp("The zone.", valueName: "name"), completion: Completions.zones)
    var zone = ZoneID.defaultZoneName

    @Option(
        help: ArgumentHelp(
            "Only changes of a user, or of one installation.",
            discussion: """
                A user's name or user record name, or the 32 hexadecimal digits that `zone log` shows \
                of an installation.
                """,
            valueName: "who"
        ),
        completion: Completions.users
    )
    var by: String?

    /// The history of the zone in an opened database.
    func past(in database: AdministeredDatabase) async throws -> ZonePast {
        try await ZonePast(ZoneID(zoneName: self.zone), of: database, self.records.container)
    }

    /// The user or the installation of `--by`; `nil` without it.
    func author(in store: Store) throws(AdministrationError) -> ChangeAuthor? {
        guard let by else { return nil }
        if by.utf8.count == 32, let bytes = Self.bytes(hexadecimal: by) { return .installation(bytes) }
        // A user record name may be that of a deleted user.
        if NameRules.isUserRecordName(by) { return .user(by) }
        let container = AdministeredContainer(self.records.container, in: store)
        let account = try container.signIn(as: by, self.records.environment.environment)
        return .user(account.userRecordName ?? "")
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}

extension PointInTime: ExpressibleByArgument {
    static let help = "a position, a time such as 2026-11-26T09:30:00Z, or how long ago: 90s, 30m, 2h, 7d"

    init?(argument: String) { self.init(argument) }
}

extension UndoCounts {
    var text: String {
        let parts = [
            (self.created, "made again"), (self.changed, "changed back"), (self.deleted, "deleted"),
            (self.kept, "kept as others left them"), (self.unchanged, "unchanged"),
        ]
        let named = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return named.isEmpty ? "nothing to undo" : "records: " + named.joined(separator: ", ")
    }
}
