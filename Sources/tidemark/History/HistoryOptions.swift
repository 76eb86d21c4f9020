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

    var zoneID: ZoneID { ZoneID(zoneName: self.zone) }

    /// The user or the installation of `--by`; `nil` without it.
    func author(in store: Store) throws(CommandFailure) -> ChangeAuthor? {
        guard let by else { return nil }
        if by.utf8.count == 32, let bytes = Self.bytes(hexadecimal: by) { return .installation(bytes) }
        // Also of somebody who is deleted.
        if NameRules.isUserRecordName(by) { return .user(by) }
        do throws(DirectoryError) {
            let account = try store.directory.account(
                named: by,
                ofContainer: self.records.container,
                environment: self.records.environment.environment
            )
            return .user(account.userRecordName ?? "")
        } catch {
            throw DirectoryAdvice.failure(error, container: self.records.container, user: by)
        }
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = text.compactMap(\.hexDigitValue)
        guard digits.count == text.count else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
